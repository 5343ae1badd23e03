import type { Subscription, SubscriptionChange } from '../../client/index.ts';
import { isRemoved } from '../../client/index.ts';
import { recordColumns } from '../../contract/csv.ts';
import type { Column } from './fit-table.ts';
import type { RowLayout } from './record-writer.ts';
import { subscriptionColumns } from './subscription-columns.ts';

/** Subscriptions as a table and as CSV with the columns of an export. */
export const subscriptionLayout = (color: boolean): RowLayout<Subscription> => ({
  columns: subscriptionColumns(color),
  csvHeader: recordColumns,
  csvCells: cellsOf,
});

/** Changes: subscriptions, and the ids of removed ones. */
export function changeLayout(color: boolean): RowLayout<SubscriptionChange> {
  const [id, ...others] = subscriptionColumns(color);
  const columns: Column<SubscriptionChange>[] = others.map((column) => ({
    ...column,
    cell: (change) => (isRemoved(change) ? '' : column.cell(change)),
  }));
  return {
    columns: [
      { header: 'CHANGE', cell: (change) => (isRemoved(change) ? 'removed' : 'changed') },
      { header: id?.header ?? 'ID', cell: (change) => change.id },
      ...columns,
    ],
    csvHeader: ['removed', ...recordColumns],
    csvCells: (change) =>
      isRemoved(change)
        ? ['true', ...recordColumns.map((name) => (name === 'id' ? change.id : ''))]
        : ['', ...cellsOf(change)],
  };
}

/** The fields of a subscription by the names of the CSV columns. */
export function fieldsOf(subscription: Subscription): ReadonlyMap<string, string | undefined> {
  const { product, ...rest } = subscription;
  const fields = {
    ...rest,
    ...Object.fromEntries(Object.entries(product).map(([name, value]) => [`product.${name}`, value])),
  };
  const texts = Object.entries(fields).map(
    ([name, value]) => [name, value === undefined ? undefined : String(value)] as const,
  );
  return new Map(texts);
}

function cellsOf(subscription: Subscription): (string | undefined)[] {
  const fields = fieldsOf(subscription);
  return recordColumns.map((name) => fields.get(name));
}
