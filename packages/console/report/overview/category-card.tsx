import { CategoryBars, categoryBarsHeight } from '../../charts/category-bars.tsx';
import { ChartCard } from '../../charts/chart-card.tsx';
import type { Category } from '../../charts/chart-data.ts';
import { CountTable } from '../../charts/count-table.tsx';
import type { Load } from '../../ui/use-load.ts';
import { overviewStrings } from './overview-strings.ts';

interface CategoryCardProps {
  readonly title: string;
  readonly description: string;
  /** The heading of the categories in the table. */
  readonly heading: string;
  readonly load: Load<{
    /** In the chart: the largest ones and the others together. */
    readonly bars: readonly Category[];
    /** In the table. */
    readonly all: readonly Category[];
  }>;
  /** Number of bars for which space is reserved. */
  readonly barsMax: number;
}

/** Numbers by status or by product, as horizontal bars or as a table. */
export function CategoryCard({ title, description, heading, load, barsMax }: CategoryCardProps) {
  const height = categoryBarsHeight(barsMax);
  return (
    <ChartCard
      title={title}
      load={load}
      height={height}
      isNoted
      chart={({ bars }) => <CategoryBars title={title} description={description} categories={bars} />}
      table={({ all }) => (
        <CountTable
          title={title}
          height={height}
          headings={[heading, overviewStrings.count]}
          rows={all.map(({ key, label, href, value }) => ({ key, label, href, counts: [value] }))}
        />
      )}
    />
  );
}
