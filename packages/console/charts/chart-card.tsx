import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Table } from '../ui/icons.ts';
import { strings } from '../ui/strings.ts';

interface ChartCardProps {
  readonly title: string;
  readonly chart: ComponentChildren;
  /** The same numbers, shown instead of the chart when the reader wants them. */
  readonly table: ComponentChildren;
}

/** A card whose reader chooses between a chart and a table. */
export function ChartCard({ title, chart, table }: ChartCardProps) {
  const [isTable, setTable] = useState(false);
  return (
    <Card
      title={title}
      actions={
        <span class="no-print">
          <Button
            variant="quiet"
            icon={Table}
            aria-label={strings.chart.tableOf(title)}
            aria-pressed={isTable}
            onClick={() => setTable(!isTable)}
          >
            {strings.chart.showTable}
          </Button>
        </span>
      }
    >
      {isTable ? table : chart}
    </Card>
  );
}
