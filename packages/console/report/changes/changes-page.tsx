import { useState } from 'preact/hooks';
import { AsOf } from '../../ui/as-of.tsx';
import { EditorForm } from '../../ui/editor-form.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatZonedDay } from '../../ui/format-date.ts';
import { CalendarDays, Check, History } from '../../ui/icons.ts';
import { announce } from '../../ui/live-region.tsx';
import { LoadedPart } from '../../ui/loaded-part.tsx';
import { currentLocation, hrefOf, Link, navigate } from '../../ui/location.tsx';
import { Popover } from '../../ui/popover.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { WorkButton } from '../../ui/work-button.tsx';
import { changesUntil } from '../api.ts';
import { describeTime } from '../past/describe-time.ts';
import { daysHint } from '../zone/local-days.ts';
import { selectionOf } from './change-filters.tsx';
import { changesStrings } from './change-strings.ts';
import { ChangesCard } from './changes-card.tsx';
import type { RecentChanges } from './read-changes.ts';
import { type ChangeSelection, type PeriodChanges, readPeriod } from './read-period.ts';
import { isPastDay, periods, readSince, type Since } from './since.ts';
import { type RecentChangesState, useRecentChanges } from './use-recent-changes.ts';

const text = changesStrings;
const listHeight = 320;

/** What changed since the last visit, within a period, or since a day. */
export function ChangesPage() {
  const { query } = currentLocation.value;
  const name = query.get('since') ?? '';
  const since = readSince(name, new Date());
  const selection = selectionOf(query);
  const key = `${name} ${JSON.stringify(selection)}`;
  return (
    <>
      <SinceBar name={name} since={since} />
      {since.kind === 'visit' ? (
        <VisitChanges key={key} selection={selection} />
      ) : (
        <PeriodList key={key} since={since} selection={selection} />
      )}
    </>
  );
}

/** The address of the same list since another time. */
function hrefSince(name: string | undefined): string {
  const query = new URLSearchParams(currentLocation.value.query);
  if (name === undefined) query.delete('since');
  else query.set('since', name);
  return hrefOf('/console/changes', query);
}

interface SinceBarProps {
  readonly name: string;
  readonly since: Since;
}

function SinceBar({ name, since }: SinceBarProps) {
  return (
    <nav class="change-periods row no-print" aria-label={text.since}>
      <Link class="button secondary" href={hrefSince(undefined)} aria-current={since.kind === 'visit' || undefined}>
        Last visit
      </Link>
      {Object.entries(periods).map(([period, days]) => (
        <Link
          key={period}
          class="button secondary"
          href={hrefSince(period)}
          aria-current={(since.kind === 'days' && period === name) || undefined}
        >
          {text.lastDays(days)}
        </Link>
      ))}
      <span class="change-day" data-chosen={since.kind === 'day' || undefined}>
        <Popover
          icon={CalendarDays}
          label={since.kind === 'day' ? text.sinceChosen(formatZonedDay(new Date(since.instant))) : 'Since a day'}
        >
          {(close) => <DayForm day={since.kind === 'day' ? since.day : ''} close={close} />}
        </Popover>
      </span>
    </nav>
  );
}

function DayForm({ day, close }: { readonly day: string; readonly close: () => void }) {
  const [error, setError] = useState<string>();
  return (
    <EditorForm
      onSubmit={(form) => {
        const { value } = form.elements.namedItem('day') as HTMLInputElement;
        if (!isPastDay(value, new Date())) return setError(text.dayRule);
        close();
        navigate(hrefSince(value));
      }}
    >
      <TextField type="date" name="day" label={text.day} defaultValue={day} hint={daysHint()} error={error} />
    </EditorForm>
  );
}

interface PeriodProps {
  readonly since: Exclude<Since, { kind: 'visit' }>;
}

interface SelectionProps {
  readonly selection: ChangeSelection;
}

function PeriodList({ since, selection }: PeriodProps & SelectionProps) {
  const load = useLoad((signal) => readPeriod(changesUntil(signal), since.instant, selection));
  return (
    <LoadedPart load={load} height={listHeight}>
      {(period) => (period === undefined ? <NoHistory /> : <Period since={since} period={period} />)}
    </LoadedPart>
  );
}

function Period({ since, period }: PeriodProps & { readonly period: PeriodChanges }) {
  const { knownSince } = period;
  const asked =
    since.kind === 'days' ? text.inLast(since.days) : text.sinceTime(formatZonedDay(new Date(since.instant)));
  const when = knownSince === undefined ? asked : text.sinceTime(describeTime({ date: knownSince }));
  return <ChangesCard period={period} when={when} />;
}

function VisitChanges({ selection }: SelectionProps) {
  const changes = useRecentChanges(selection);
  const { load } = changes;
  return (
    <>
      {load.kind === 'ready' && load.asOf !== undefined && <AsOf at={load.asOf} />}
      <LoadedPart load={load} height={listHeight}>
        {(recent) => <Visit recent={recent} markAsSeen={changes.markAsSeen} />}
      </LoadedPart>
    </>
  );
}

const NoHistory = () => <EmptyState icon={History} title="No changes are known yet" text={text.noHistoryHint} />;

interface VisitProps extends Pick<RecentChangesState, 'markAsSeen'> {
  readonly recent: RecentChanges;
}

function Visit({ recent: { since, isLost, period }, markAsSeen }: VisitProps) {
  if (isLost && since !== undefined)
    return (
      <EmptyState icon={History} title={text.lost(describeTime({ date: new Date(since) }))} text={text.lostHint} />
    );
  if (period === undefined) return <NoHistory />;
  const { knownSince } = period;
  const asked = since === undefined ? text.inLast(1) : text.sinceVisit(describeTime({ date: new Date(since) }));
  const when = knownSince === undefined ? asked : text.sinceTime(describeTime({ date: knownSince }));
  return (
    <ChangesCard
      key={`${since} ${period.end}`}
      period={period}
      when={since === undefined ? text.firstVisit(when) : when}
      actions={
        <WorkButton icon={Check} work={() => markAsSeen(period).then(() => announce(text.seen))}>
          {text.markAsSeen}
        </WorkButton>
      }
    />
  );
}
