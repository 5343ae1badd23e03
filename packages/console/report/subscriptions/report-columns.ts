import {
  columnVisibilityFeature,
  constructTable,
  createColumnHelper,
  rowSortingFeature,
  type SortingState,
  tableFeatures,
} from '@tanstack/table-core';
import { storeReactivityBindings } from '@tanstack/table-core/store-reactivity-bindings';
import type { Subscription, SubscriptionSort } from '../../../client/index.ts';
import { strings } from '../strings.ts';
import type { ColumnId } from './fit-columns.ts';

const text = strings.subscriptions.column;

const features = tableFeatures({
  coreReactivityFeature: storeReactivityBindings(),
  columnVisibilityFeature,
  rowSortingFeature,
});
const helper = createColumnHelper<typeof features, Subscription>();

const column = <Value>(id: ColumnId, read: (record: Subscription) => Value) =>
  helper.accessor(read, { id, header: text[id], enableSorting: id in sortedDates });

/** The date that each sortable column shows. */
const sortedDates = { created: 'createdDate', activated: 'activationDate', ends: 'expirationDate' } as const;

const columns = helper.columns([
  column('status', ({ status }) => status ?? null),
  column('product', ({ product }) => product.name),
  column('iccid', ({ iccid }) => iccid),
  column('device', ({ device_id }) => device_id),
  column('plan', ({ product }) => product.plan_id),
  column('created', ({ createdDate }) => createdDate),
  column('activated', ({ activationDate }) => activationDate),
  column('ends', ({ expirationDate }) => expirationDate),
  column('renews', ({ auto_renew }) => auto_renew),
  column('id', ({ id }) => id),
]);

/** Creates the model of the table. The service sorts and pages. */
export const createTable = () =>
  constructTable({
    features,
    columns,
    data: [] as readonly Subscription[],
    getRowId: ({ id }) => id,
    manualSorting: true,
    enableSortingRemoval: false,
    enableMultiSort: false,
  });

/** A row of the table: a record. */
export type TableRow = ReturnType<ReturnType<typeof createTable>['getRowModel']>['rows'][number];

/** The order of the report as the table knows it. */
export function sortingOf(sort: SubscriptionSort): SortingState {
  const [id = 'created'] = Object.entries(sortedDates).find(([, date]) => sort.endsWith(date)) ?? [];
  return [{ id, desc: sort.startsWith('-') }];
}

/** The value of `sort` that a header selects. */
export function sortOf([sorting]: SortingState): SubscriptionSort {
  const date = sortedDates[(sorting?.id ?? 'created') as keyof typeof sortedDates];
  return sorting?.desc === true ? `-${date}` : date;
}
