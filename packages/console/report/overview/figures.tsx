import type { ComponentChildren } from 'preact';
import type { SubscriptionSummary } from '../../../client/index.ts';
import { formatCount, formatShare } from '../../ui/format-count.ts';
import { formatDay } from '../../ui/format-date.ts';
import { isOutdated } from '../../ui/loaded-part.tsx';
import { Link } from '../../ui/location.tsx';
import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import type { Load } from '../../ui/use-load.ts';
import type { RecentChanges } from '../changes/read-changes.ts';
import { reportLink } from '../link/report-link.ts';
import { describeTime } from '../past/describe-time.ts';
import type { CreatedWeeks, EndingSoon } from './overview-data.ts';
import { overviewStrings } from './overview-strings.ts';
import { createdBounds, endsWithin } from './periods.ts';

const text = overviewStrings;

interface FiguresProps {
  readonly totals: Load<SubscriptionSummary>;
  readonly soon: Load<EndingSoon>;
  readonly created: Load<CreatedWeeks>;
  readonly changes: Load<RecentChanges>;
  readonly now: Date;
  readonly isPast: boolean;
}

/** What needs an action, and the numbers that a reader looks for first; each leads to what it counts. */
export const Figures = ({ totals, soon, created, changes, now, isPast }: FiguresProps) => (
  <ul class="figures">
    <Figure
      label="End within 7 days without renewal"
      href={reportLink({ ...endsWithin(now, 7, isPast), 'auto-renew': 'false' })}
      load={soon}
      read={({ next }) => formatCount(notRenewedOf(next))}
      note={readyNote(soon, soonNote)}
      isMain
    />
    <Figure
      label={text.total}
      href={reportLink({})}
      load={totals}
      read={({ total }) => formatCount(total)}
      note={readyNote(created, createdNote)}
    />
    <Figure
      label="Active"
      href={reportLink({ status: 'ACTIVE' })}
      load={totals}
      read={({ by }) => formatCount(countOf(by.status, 'ACTIVE'))}
      note={readyNote(totals, activeNote)}
    />
    {!isPast && (
      <Figure
        label={text.changed}
        href="/console/changes"
        load={changes}
        read={changedNumber}
        note={readyNote(changes, changedNote)}
      />
    )}
  </ul>
);

interface FigureProps<Value> {
  readonly label: string;
  readonly href: string;
  readonly load: Load<Value>;
  readonly read: (value: Value) => string;
  /** Shown below the number, with links of its own. */
  readonly note: ComponentChildren;
  /** The first number that a reader should see. */
  readonly isMain?: boolean;
}

function Figure<Value>({ label, href, load, read, note, isMain = false }: FigureProps<Value>) {
  const number = load.kind === 'ready' ? read(load.value) : text.unknownNumber;
  const marks = {
    'data-main': isMain || undefined,
    'data-needs-action': (isMain && load.kind === 'ready' && number !== '0') || undefined,
    'data-outdated': isOutdated(load) || undefined,
  };
  return (
    <li class="card surface figure" {...marks}>
      <Link class="figure-link" href={href}>
        <span class="medium">{label}</span>
        {load.kind === 'loading' ? (
          <Loading>
            <Skeleton width="4ch" />
          </Loading>
        ) : (
          <span class="figure-number">{number}</span>
        )}
      </Link>
      <p class="figure-note row apart soft small">{note}</p>
    </li>
  );
}

const readyNote = <Value,>(load: Load<Value>, note: (value: Value) => ComponentChildren): ComponentChildren =>
  load.kind === 'ready' && note(load.value);

const countOf = (counts: readonly { value: string | null; count: number }[] = [], wanted: string): number =>
  counts.find(({ value }) => value === wanted)?.count ?? 0;

const notRenewedOf = ({ by }: SubscriptionSummary): number => countOf(by['auto-renew'], 'false');

const soonNote = ({ next, nextFilters, last, lastFilters }: EndingSoon) => (
  <>
    <Link class="target" href={reportLink(nextFilters)}>
      {text.ofEnding(next.total)}
    </Link>{' '}
    <Link class="target" href={reportLink(lastFilters)}>
      {text.endedBefore(notRenewedOf(last))}
    </Link>
  </>
);

const createdNote = ({ week, last, before }: CreatedWeeks) => (
  <>
    <Link class="target" href={reportLink(createdBounds(week))}>
      {text.createdInWeek(last, daysOf(week))}
    </Link>{' '}
    <span>{text.weekBefore(before)}</span>
  </>
);

/** "16–22 Nov", or "28 Nov – 4 Dec". */
function daysOf(days: readonly string[]): string {
  const [from = '', to = ''] = [days[0], days.at(-1)].map((day) => formatDay(new Date(day ?? '')).slice(0, -5));
  const isOneMonth = from.split(' ')[1] === to.split(' ')[1];
  return isOneMonth ? `${from.split(' ')[0]}–${to}` : `${from} – ${to}`;
}

const activeNote = ({ total, by }: SubscriptionSummary) =>
  total > 0 && text.activeShare(formatShare(countOf(by.status, 'ACTIVE') / total));

/** Unknown without a history. */
const changedNumber = ({ period }: RecentChanges): string =>
  period === undefined ? text.unknownNumber : formatCount(period.summary.total);

function changedNote({ since, isLost, period }: RecentChanges): string {
  const date = period?.knownSince ?? (since === undefined ? undefined : new Date(since));
  if (date === undefined) return text.lastDay;
  return isLost ? text.lost : text.changedSince(describeTime({ date }));
}
