import type { ComponentChildren, ComponentProps } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Table } from '../ui/icons.ts';
import { LoadedPart } from '../ui/loaded-part.tsx';
import { strings } from '../ui/strings.ts';
import type { Load } from '../ui/use-load.ts';

interface ChartCardProps<Value> extends Pick<ComponentProps<typeof LoadedPart>, 'height' | 'isNoted'> {
  readonly title: string;
  readonly load: Load<Value>;
  readonly chart: (value: Value) => ComponentChildren;
  /** The same numbers, shown instead of the chart when the reader wants them. */
  readonly table: (value: Value) => ComponentChildren;
}

/** A card whose reader chooses between a chart and a table. */
export function ChartCard<Value>({ title, chart, table, ...part }: ChartCardProps<Value>) {
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
      <LoadedPart {...part}>{isTable ? table : chart}</LoadedPart>
    </Card>
  );
}
