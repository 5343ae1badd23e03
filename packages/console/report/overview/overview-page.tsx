import type { ComponentProps } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { SubscriptionPage, SubscriptionSummary } from '../../../client/index.ts';
import { Patterns } from '../../charts/marks.tsx';
import { AsOf } from '../../ui/as-of.tsx';
import { connection } from '../../ui/connection.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { LastValue, type Load, useLoad } from '../../ui/use-load.ts';
import { reports } from '../api.ts';
import { useRecentChanges } from '../changes/use-recent-changes.ts';
import { session } from '../session/session.ts';
import { strings } from '../strings.ts';
import { NoRecords } from '../subscriptions/no-records.tsx';
import { CategoryCard } from './category-card.tsx';
import { createdChart, endingChart, productBars, productBarsMax, statusBars, statusBarsMax } from './charts.ts';
import { Figures } from './figures.tsx';
import { NextEndsCard } from './next-ends-card.tsx';
import {
  type CreatedCounts,
  type CreatedWeeks,
  daysShown,
  type EndingSoon,
  monthsShown,
  type PeriodCounts,
  readCreated,
  readCreatedWeeks,
  readEnding,
  readEndingSoon,
  readNextEnds,
  readTotals,
} from './overview-data.ts';
import { PeriodCard } from './period-card.tsx';

const text = strings.overview;

const lastTotals = new LastValue<SubscriptionSummary>(session);
const lastSoon = new LastValue<EndingSoon>(session);
const lastWeeks = new LastValue<CreatedWeeks>(session);
const lastNextEnds = new LastValue<SubscriptionPage>(session);
const lastEnding = new LastValue<PeriodCounts<'renews'>>(session);
const lastCreated = new LastValue<CreatedCounts>(session);

/** What ends soon without renewal, how many subscriptions there are, and how many are active. */
export function OverviewPage() {
  const [now] = useState(() => new Date());
  const totals = useLoad(() => readTotals(reports), lastTotals);
  const soon = useLoad(() => readEndingSoon(reports, now), lastSoon);
  const weeks = useLoad(() => readCreatedWeeks(reports, now), lastWeeks);
  const changes = useRecentChanges({ isListed: false });
  const ending = useLoad(() => readEnding(reports, now), lastEnding);
  const nextEnds = useLoad(() => readNextEnds(reports), lastNextEnds);
  const created = useLoad(
    totals.kind === 'ready' ? () => readCreated(reports, totals.value, now) : undefined,
    lastCreated,
  );
  const figures = [totals, soon, weeks, changes.load, nextEnds];
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
  const categoryCards = useMemo(() => <CategoryCards totals={totals} />, [totals]);
  if (totals.kind === 'ready' && totals.value.total === 0) return <NoRecords />;
  return (
    <>
      <Patterns />
      {totals.kind === 'ready' && totals.asOf !== undefined && <AsOf at={totals.asOf} />}
      <Figures totals={totals} soon={soon} created={weeks} changes={changes.load} />
      {failed[0] !== undefined && isNoted && connection.value === 'up' && (
        <ErrorNote
          error={failed[0].error}
          onRetry={() => {
            for (const { retry } of failed) retry();
          }}
        />
      )}
      <div class="overview-periods">
        {createdCard}
        {endingCard}
      </div>
      <div class="overview-lists">
        {categoryCards}
        <NextEndsCard load={nextEnds} />
      </div>
    </>
  );
}

type PeriodCardLoad = Pick<ComponentProps<typeof PeriodCard>, 'load' | 'isNoted'>;

const CreatedCard = (props: PeriodCardLoad) => (
  <PeriodCard
    title={text.created(monthsShown)}
    description={text.createdDescription(monthsShown)}
    heading={text.month}
    period={text.inMonths(monthsShown)}
    empty={text.noneCreated(monthsShown)}
    {...props}
  />
);

const EndingCard = (props: PeriodCardLoad) => (
  <PeriodCard
    title={text.ending(daysShown)}
    description={text.endingDescription(daysShown)}
    heading={text.day}
    period={text.inDays(daysShown)}
    empty={text.noneEnding(daysShown)}
    {...props}
  />
);

const CategoryCards = ({ totals }: { totals: Load<SubscriptionSummary> }) => (
  <>
    <CategoryCard
      title={text.products}
      description={text.productsDescription}
      heading={text.product}
      barsMax={productBarsMax}
      load={mapLoad(totals, barsWith(productBars, productBarsMax))}
    />
    <CategoryCard
      title={text.statuses}
      description={text.statusesDescription}
      heading={text.status}
      barsMax={statusBarsMax}
      load={mapLoad(totals, barsWith(statusBars, statusBarsMax))}
    />
  </>
);

const barsWith =
  <Bar,>(barsOf: (totals: SubscriptionSummary, max: number) => Bar[], max: number) =>
  (totals: SubscriptionSummary) => ({ bars: barsOf(totals, max), all: barsOf(totals, Number.POSITIVE_INFINITY) });

const mapLoad = <From, To>(load: Load<From>, convert: (value: From) => To): Load<To> =>
  load.kind === 'ready' ? { ...load, value: convert(load.value) } : load;
