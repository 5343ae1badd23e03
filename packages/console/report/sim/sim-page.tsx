import type { Subscription } from '../../../client/index.ts';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatZonedDay } from '../../ui/format-date.ts';
import { CardSim } from '../../ui/icons.ts';
import { LoadedPart } from '../../ui/loaded-part.tsx';
import { currentLocation, Link } from '../../ui/location.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { StatusLabel, statusTone } from '../../ui/status-label.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { historyStrings } from '../history/history-strings.ts';
import { StepItem } from '../history/step-list.tsx';
import { wholeReport } from '../link/report-state.ts';
import { simPath } from '../link/sim-path.ts';
import { reportHref } from '../store/report-store.ts';
import { groupIccid } from '../words/iccid.ts';
import { nameOf } from '../words/product-names.ts';
import { zoneName } from '../zone/local-days.ts';
import { readSim, type Sim } from './read-sim.ts';
import { type SimEvent, type Span, simEvents, spansOf } from './sim-events.ts';
import { simStrings } from './sim-strings.ts';

const text = simStrings;

/** Every subscription of a SIM, and one time line of all of them. */
export function SimPage() {
  const iccid = currentLocation.value.path.slice(simPath.length + 1);
  return <LoadedSim key={iccid} iccid={iccid} />;
}

function LoadedSim({ iccid }: { readonly iccid: string }) {
  usePageTitle(text.titleOf(groupIccid(iccid)));
  const load = useLoad((signal) => readSim(iccid, { signal }));
  return (
    <LoadedPart load={load} height={320}>
      {(sim) =>
        sim.records.length === 0 ? (
          <EmptyState icon={CardSim} title={text.none} text={text.noneHint(groupIccid(iccid))} />
        ) : (
          <SimCards iccid={iccid} sim={sim} />
        )
      }
    </LoadedPart>
  );
}

function SimCards({ iccid, sim }: { readonly iccid: string; readonly sim: Sim }) {
  const { records, totalCount, histories } = sim;
  const now = new Date();
  const { spans, now: present } = spansOf(records, now);
  return (
    <div class="sim stack">
      <Card
        title={text.subscriptions(groupIccid(iccid), totalCount)}
        actions={
          <Link class="button quiet no-print" href={reportHref({ ...wholeReport, filters: { iccid } })}>
            {text.asList}
          </Link>
        }
      >
        {records.length < totalCount && <p class="soft">{text.listed(records.length)}</p>}
        <ul class="sim-spans lines">
          {records.map((record, index) => (
            <SpanItem key={record.id} record={record} span={spans[index]} present={present} />
          ))}
        </ul>
      </Card>
      <Card title={historyStrings.title}>
        <p class="soft">{hintOf(sim)}</p>
        <ol class="steps lines">
          {simEvents(records, histories, now).map((event) => (
            <EventItem key={event.key} event={event} />
          ))}
        </ol>
      </Card>
    </div>
  );
}

/** What the time line does not have. */
function hintOf({ totalCount, histories }: Sim): string {
  const isCut = histories.length < totalCount;
  const isOld = histories.some(({ has_more: hasMore }) => hasMore);
  return [
    text.hint(zoneName()),
    ...(isCut ? [text.histories(histories.length)] : []),
    ...(isOld ? [historyStrings.hasMore] : []),
  ].join(' ');
}

interface SpanItemProps {
  readonly record: Subscription;
  readonly span: Span | undefined;
  readonly present: number | undefined;
}

function SpanItem({ record, span = { start: 0, length: 0 }, present }: SpanItemProps) {
  const { status = null, activationDate, expirationDate } = record;
  const place = { insetInlineStart: `${span.start * 100}%`, width: `${span.length * 100}%` };
  return (
    <li>
      <RecordLink record={record} />
      <StatusLabel status={status} />
      <span class="soft">
        {text.period(formatZonedDay(new Date(activationDate)), formatZonedDay(new Date(expirationDate)))}
      </span>
      <div class="sim-span" aria-hidden="true">
        <span class="sim-bar mark" data-tone={statusTone(status)} style={place} />
        {present !== undefined && <span class="sim-now mark" style={{ insetInlineStart: `${present * 100}%` }} />}
      </div>
    </li>
  );
}

const RecordLink = ({ record }: { readonly record: Subscription }) => (
  <Link class="long target" href={`/console/subscriptions/${encodeURIComponent(record.id)}`}>
    <bdi>{nameOf(record.product)}</bdi>
  </Link>
);

function EventItem({ event: { record, at, date, step } }: { readonly event: SimEvent }) {
  if (step !== undefined)
    return (
      <StepItem step={step}>
        <RecordLink record={record} />
      </StepItem>
    );
  return (
    <li class="row gap-3" data-kind={date}>
      <span class="step-time soft">{formatZonedDay(new Date(at))}</span>
      <div class="step-text row apart">
        <RecordLink record={record} />
        <span>{date && text.date[date]}</span>
      </div>
    </li>
  );
}
