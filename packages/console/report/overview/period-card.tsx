import { ChartCard } from '../../charts/chart-card.tsx';
import type { Column, Series } from '../../charts/chart-data.ts';
import { sumOf } from '../../charts/chart-data.ts';
import { CountTable } from '../../charts/count-table.tsx';
import { Legend } from '../../charts/legend.tsx';
import { StackedColumns } from '../../charts/stacked-columns.tsx';
import { strings } from '../../ui/strings.ts';
import type { Load } from '../../ui/use-load.ts';

interface PeriodCardProps {
  readonly title: string;
  readonly description: string;
  /** The heading of the periods in the table. */
  readonly heading: string;
  /** What the numbers of the legend count. */
  readonly period: string;
  /** Shown instead of a chart without any subscription. */
  readonly empty: string;
  /** Whether its error is shown elsewhere. */
  readonly isNoted: boolean;
  readonly load: Load<{ readonly columns: readonly Column[]; readonly series: readonly Series[] }>;
}

/** The legend and the columns. */
const bodyHeight = 268;

/** Numbers by month or by day, as columns or as a table. */
export function PeriodCard({ title, description, heading, period, empty, isNoted, load }: PeriodCardProps) {
  return (
    <ChartCard
      title={title}
      load={load}
      height={bodyHeight}
      isNoted={isNoted}
      chart={({ columns, series }) =>
        series.length === 0 ? (
          <p class="placeholder soft">{empty}</p>
        ) : (
          <>
            <Legend series={series} period={period} />
            <StackedColumns title={title} description={description} series={series} columns={columns} />
          </>
        )
      }
      table={({ columns, series }) => (
        <CountTable
          title={title}
          height={bodyHeight}
          headings={[heading, strings.chart.total, ...series.map(({ label }) => label)]}
          rows={columns.map(({ key, name, href, values }) => ({
            key,
            label: name,
            href,
            counts: [sumOf(values), ...values],
          }))}
        />
      )}
    />
  );
}
