import type { ChangesSummary } from '../../client/index.ts';
import { countText } from '../../terminal/output.ts';
import { type RowLayout, type Screen, writeResponse } from './record-writer.ts';

interface CountRow {
  readonly dimension: string;
  readonly value: string | null;
  readonly count: number;
}

/** Writes the counts of changes: as a table, or the response itself as JSON. */
export async function writeChangesSummary(summary: ChangesSummary, screen: Screen): Promise<void> {
  const { status, 'product-id': products, import: imports } = summary.omitted;
  const omitted = [
    [status, 'changes with other transitions of the status'],
    [products, 'changes with other moves to a product'],
    [imports, 'older imports'],
  ] as const;
  const remarks = omitted.flatMap(([count, what]) => (count > 0 ? [`Not listed: ${countText(count)} ${what}`] : []));
  await writeResponse(screen, { whole: summary, rows: rowsOf(summary), layout, remarks });
}

function rowsOf({ total, added, changed, removed, renewed, by }: ChangesSummary): CountRow[] {
  const row = (dimension: string, value: string | null, count: number): CountRow => ({ dimension, value, count });
  const turn = ({ from, to }: { readonly from: string | null; readonly to: string | null }): string =>
    `${from ?? 'none'} → ${to ?? 'none'}`;
  return [
    row('total', null, total),
    ...Object.entries({ added, changed, removed }).map(([kind, count]) => row('kind', kind, count)),
    row('renewed', null, renewed),
    ...by.status.map((each) => row('status', turn(each), each.count)),
    ...by['product-id'].map((each) =>
      row('product-id', turn({ from: each.from_name ?? each.from, to: each.to_name ?? each.to }), each.count),
    ),
    ...by['auto-renew'].map((each) => row('auto-renew', turn(each), each.count)),
    ...by.day.map((each) => row('day', each.value, each.added + each.changed + each.removed)),
    ...by.import.map((each) => row('import', each.import_id ?? 'none', each.added + each.changed + each.removed)),
  ];
}

const layout: RowLayout<CountRow> = {
  columns: [
    { header: 'DIMENSION', cell: ({ dimension }) => dimension },
    { header: 'VALUE', cell: ({ value }) => value ?? '-' },
    { header: 'COUNT', cell: ({ count }) => countText(count), align: 'right' },
  ],
  csvHeader: ['dimension', 'value', 'count'],
  csvCells: ({ dimension, value, count }) => [dimension, value ?? undefined, String(count)],
};
