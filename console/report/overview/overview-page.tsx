import { ChartColumn } from 'lucide';
import { useState } from 'preact/hooks';
import type { SubscriptionSummary } from '../../../src/client/index.ts';
import { Patterns } from '../../charts/marks.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { type Load, useLoad } from '../../ui/use-load.ts';
import { reports } from '../api.ts';
import { useRecentChanges } from '../changes/use-recent-changes.ts';
import { strings } from '../strings.ts';
import { CategoryCard } from './category-card.tsx';
import { createdChart, endingChart, productBars, productBarsMax, statusBars, statusBarsMax } from './charts.ts';
import { Figures } from './figures.tsx';
import { daysShown, monthsShown, readCreated, readEnding, readEndingSoon, readTotals } from './overview-data.ts';
import { PeriodCard } from './period-card.tsx';
import { RecentCard } from './recent-card.tsx';

const text = strings.overview;

/** How many subscriptions there are, how many are active, and what ends soon. */
export function OverviewPage() {
  const [now] = useState(() => new Date());
  const totals = useLoad(() => readTotals(reports));
  const soon = useLoad(() => readEndingSoon(reports));
  const changes = useRecentChanges();
  const ending = useLoad(() => readEnding(reports, now));
  const created = useLoad(totals.kind === 'ready' ? () => readCreated(reports, totals.value, now) : undefined);
  if (totals.kind === 'ready' && totals.value.total === 0)
    return <EmptyState icon={ChartColumn} title={text.none} text={text.noneHint} />;
  return (
    <>
      <Patterns />
      <Figures totals={totals} soon={soon} changes={changes.load} />
      <div class="overview-periods">
        <PeriodCard
          title={text.created}
          description={text.createdDescription(monthsShown)}
          heading={text.month}
          empty={text.noneCreated}
          load={mapLoad(totals.kind === 'failed' ? totals : created, createdChart)}
        />
        <PeriodCard
          title={text.ending}
          description={text.endingDescription(daysShown)}
          heading={text.day}
          empty={text.noneEnding}
          load={mapLoad(ending, endingChart)}
        />
      </div>
      <div class="overview-lists">
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
        <RecentCard changes={changes} />
      </div>
    </>
  );
}

const barsWith =
  <Bar,>(barsOf: (totals: SubscriptionSummary, max: number) => Bar[], max: number) =>
  (totals: SubscriptionSummary) => ({ bars: barsOf(totals, max), all: barsOf(totals, Number.POSITIVE_INFINITY) });

const mapLoad = <From, To>(load: Load<From>, convert: (value: From) => To): Load<To> =>
  load.kind === 'ready' ? { kind: 'ready', value: convert(load.value) } : load;
