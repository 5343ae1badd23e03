import type { ComponentProps } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { SubscriptionPage } from '../../../client/index.ts';
import type { CallOptions } from '../../../client/options.ts';
import { Patterns } from '../../charts/marks.tsx';
import { AsOf } from '../../ui/as-of.tsx';
import { connection } from '../../ui/connection.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { type Load, useLoad } from '../../ui/use-load.ts';
import { reports } from '../api.ts';
import { useChangeCount } from '../changes/use-recent-changes.ts';
import { asOf } from '../past/as-of.ts';
import type { PastTime } from '../past/read-as-of.ts';
import { NoRecords } from '../session/no-records.tsx';
import { readPastPage } from '../store/past-page.ts';
import { zoneName, zoneOfPages } from '../zone/local-days.ts';
import { CategoryCard } from './category-card.tsx';
import { createdChart, endingChart } from './charts.ts';
import { Figures } from './figures.tsx';
import { NextEndsCard } from './next-ends-card.tsx';
import {
  daysShown,
  monthsShown,
  nextEndsMax,
  nextEndsQuery,
  readCreated,
  readCreatedWeeks,
  readEnding,
  readEndingSoon,
  readTotals,
  type SummaryReader,
} from './overview-data.ts';
import { overviewStrings } from './overview-strings.ts';
import { PeriodCard } from './period-card.tsx';

const text = overviewStrings;

/** The counts as they were or are, by day and month of the pages' time zone. */
const readerAt = (past: PastTime | undefined, signal: AbortSignal): SummaryReader => {
  const zone = zoneOfPages()?.name;
  return { summary: (query) => reports.summary({ ...query, 'as-of': past?.instant, zone }, { signal }) };
};

/** The subscriptions that end next without renewal. */
function readNextEnds(past: PastTime | undefined, now: Date, options: CallOptions): Promise<SubscriptionPage> {
  const query = nextEndsQuery(now, past !== undefined);
  if (past !== undefined) return readPastPage({ ...query, 'as-of': past.instant }, nextEndsMax, options);
  return reports.subscriptions({ ...query, size: nextEndsMax }, options).page();
}

/** What ends soon without renewal, how many subscriptions there are, and how many are active. */
export function OverviewPage() {
  const [past] = useState(() => asOf.peek());
  const [now] = useState(() => past?.date ?? new Date());
  const reader = (signal: AbortSignal): SummaryReader => readerAt(past, signal);
  const isPast = past !== undefined;
  const totals = useLoad((signal) => readTotals(reader(signal)));
  const soon = useLoad((signal) => readEndingSoon(reader(signal), now, isPast));
  const weeks = useLoad((signal) => readCreatedWeeks(reader(signal), now));
  const changes = useChangeCount(isPast);
  const ending = useLoad((signal) => readEnding(reader(signal), now, isPast));
  const nextEnds = useLoad((signal) => readNextEnds(past, now, { signal }));
  const created = useLoad(
    totals.kind === 'ready' ? (signal) => readCreated(reader(signal), totals.value, now) : undefined,
  );
  const figures = [totals, soon, weeks, changes, nextEnds];
  const failed = [...figures, created, ending].filter((load) => load.kind === 'failed');
  // a failure that concerns one card is shown there
  const isNoted = failed.length > 1 || figures.some((load) => load.kind === 'failed');
  // nine responses arrive one by one: each draws its own cards, and not all charts again
  const createdLoad = totals.kind === 'failed' ? totals : created;
  const createdCard = useMemo(
    () => <CreatedCard load={mapLoad(createdLoad, createdChart)} isNoted={isNoted} />,
    [createdLoad, isNoted],
  );
  const endingCard = useMemo(
    () => <EndingCard load={mapLoad(ending, endingChart)} isNoted={isNoted} />,
    [ending, isNoted],
  );
  if (totals.kind === 'ready' && totals.value.total === 0) return <NoRecords />;
  return (
    <>
      <Patterns />
      {totals.kind === 'ready' && totals.asOf !== undefined && <AsOf at={totals.asOf} />}
      <Figures totals={totals} soon={soon} created={weeks} changes={changes} now={now} isPast={isPast} />
      {failed[0] !== undefined && isNoted && connection.value === 'up' && (
        <ErrorNote
          error={failed[0].error}
          onRetry={() => {
            for (const { retry } of failed) retry();
          }}
        />
      )}
      <div class="overview-periods stack">
        {createdCard}
        {endingCard}
      </div>
      <div class="overview-lists stack">
        <CategoryCard title={text.products} by="product-id" rowsMax={8} load={totals} />
        <CategoryCard title={text.statuses} by="status" rowsMax={5} load={totals} />
        <NextEndsCard load={nextEnds} now={now} isPast={isPast} />
      </div>
    </>
  );
}

type PeriodCardLoad = Pick<ComponentProps<typeof PeriodCard>, 'load' | 'isNoted'>;

const CreatedCard = (props: PeriodCardLoad) => (
  <PeriodCard
    title={text.created(monthsShown, zoneName())}
    description={text.createdDescription(monthsShown, zoneName())}
    heading={text.month}
    period={text.inMonths(monthsShown)}
    empty={text.noneCreated(monthsShown)}
    {...props}
  />
);

const EndingCard = (props: PeriodCardLoad) => (
  <PeriodCard
    title={text.ending(daysShown, zoneName())}
    description={text.endingDescription(daysShown, zoneName())}
    heading={text.day}
    period={text.inDays(daysShown)}
    empty={text.noneEnding(daysShown)}
    {...props}
  />
);

const mapLoad = <From, To>(load: Load<From>, convert: (value: From) => To): Load<To> =>
  load.kind === 'ready' ? { ...load, value: convert(load.value) } : load;
