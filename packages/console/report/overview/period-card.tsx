import { useState } from 'preact/hooks';
import type { Column, Series } from '../../charts/chart-data.ts';
import { sumOf } from '../../charts/chart-data.ts';
import { CountTable } from '../../charts/count-table.tsx';
import { Legend } from '../../charts/legend.tsx';
import { StackedColumns } from '../../charts/stacked-columns.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Table } from '../../ui/icons.ts';
import { LoadedPart } from '../../ui/loaded-part.tsx';
import { strings } from '../../ui/strings.ts';
import type { Load } from '../../ui/use-load.ts';

const text = strings.chart;

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
  const [isTable, setTable] = useState(false);
  return (
    <Card
      title={title}
      actions={
        <span class="no-print">
          <Button
            variant="quiet"
            icon={Table}
            aria-label={text.tableOf(title)}
            aria-pressed={isTable}
            onClick={() => setTable(!isTable)}
          >
            {text.showTable}
          </Button>
        </span>
      }
    >
      <LoadedPart load={load} height={bodyHeight} isNoted={isNoted}>
        {({ columns, series }) => {
          if (isTable)
            return (
              <CountTable
                title={title}
                height={bodyHeight}
                headings={[heading, text.total, ...series.map(({ label }) => label)]}
                rows={columns.map(({ values, ...column }) => ({ ...column, counts: [sumOf(values), ...values] }))}
              />
            );
          if (series.length === 0) return <p class="placeholder soft">{empty}</p>;
          return (
            <>
              <Legend series={series} period={period} />
              <StackedColumns title={title} description={description} series={series} columns={columns} />
            </>
          );
        }}
      </LoadedPart>
    </Card>
  );
}
