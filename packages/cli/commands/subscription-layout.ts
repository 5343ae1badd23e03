import { styleText } from 'node:util';
import { type DescribedChange, isRemoved, type Subscription, type SubscriptionChange } from '../../client/index.ts';
import { recordColumns } from '../../contract/csv.ts';
import { readFields } from '../../contract/fields.ts';
import type { Column } from './fit-table.ts';
import type { RowLayout } from './record-writer.ts';

/**
 * Subscriptions as a table and as CSV with the columns of an export; both have the columns of the
 * list `fields` if it is given.
 */
export function subscriptionLayout(color: boolean, fields?: string): RowLayout<Subscription> {
  if (fields === undefined)
    return { columns: subscriptionColumns(color), csvHeader: recordColumns, csvCells: (row) => cellsOf(row) };
  const names = readFields(fields).fields;
  return {
    columns: names.map((name) => ({
      header: name,
      cell: (row) => fieldsOf(row).get(name) ?? '-',
      ...(color && name === 'status' && { paint: paintStatus }),
    })),
    csvHeader: names,
    csvCells: (row) => cellsOf(row, names),
  };
}

/** Changes: subscriptions, and the ids of removed ones. */
export function changeLayout(color: boolean): RowLayout<SubscriptionChange> {
  const [id, ...others] = subscriptionColumns(color);
  const columns: Column<SubscriptionChange>[] = others.map((column) => ({
    ...column,
    cell: (change) => (isRemoved(change) ? '' : column.cell(change)),
  }));
  return {
    columns: [
      { header: 'CHANGE', cell: kindOf },
      { header: id?.header ?? 'ID', cell: (change) => change.id },
      ...columns,
    ],
    csvHeader: ['removed', ...recordColumns],
    csvCells: (change) =>
      isRemoved(change)
        ? ['true', ...recordColumns.map((name) => (name === 'id' ? change.id : undefined))]
        : [undefined, ...cellsOf(change)],
  };
}

/** Changes of `--before`: when each was committed, and the fields that differ. */
export const describedLayout = (): RowLayout<SubscriptionChange | DescribedChange> => ({
  columns: [
    { header: 'CHANGE', cell: kindOf },
    { header: 'COMMITTED', cell: (change) => detailsOf(change).committed_at ?? '-', drop: 1 },
    { header: 'ID', cell: ({ id }) => id },
    { header: 'DIFFERENCES', cell: differencesIn, least: 20 },
  ],
  csvHeader: ['kind', 'committed_at', 'import_id', ...recordColumns, ...recordColumns.map((name) => `before.${name}`)],
  csvCells: (change) => {
    const { committed_at: at, import_id: importId, before } = detailsOf(change);
    const now = isRemoved(change) ? noCells : cellsOf(change);
    return [kindOf(change), at, importId, change.id, ...now.slice(1), ...(before ? cellsOf(before) : noCells)];
  },
});

const noCells: readonly undefined[] = recordColumns.map(() => undefined);

const detailsOf = (change: SubscriptionChange | DescribedChange): Partial<DescribedChange> =>
  'kind' in change ? change : {};

/** `status: ACTIVE → DEPLETED`, for each field of a changed record that differs. */
function differencesIn(change: SubscriptionChange | DescribedChange): string {
  const { before } = detailsOf(change);
  if (before === undefined || isRemoved(change)) return '';
  const [old, now] = [before, change].map((record) => cellsOf(record));
  const texts = recordColumns.map((name, index) => `${name}: ${old?.[index] ?? '-'} → ${now?.[index] ?? '-'}`);
  return texts.filter((_, index) => old?.[index] !== now?.[index]).join(', ');
}

/** Without `--before`, the feed does not say whether a record was added or changed. */
const kindOf = (change: SubscriptionChange | DescribedChange): string =>
  'kind' in change ? change.kind : isRemoved(change) ? 'removed' : 'changed';

/** The fields of a subscription by the names of the CSV columns. */
export function fieldsOf(subscription: Partial<Subscription>): ReadonlyMap<string, string | undefined> {
  const { product, ...rest } = subscription;
  const fields = {
    ...rest,
    ...Object.fromEntries(Object.entries(product ?? {}).map(([name, value]) => [`product.${name}`, value])),
  };
  const texts = Object.entries(fields).map(
    ([name, value]) => [name, value === undefined ? undefined : String(value)] as const,
  );
  return new Map(texts);
}

function cellsOf(subscription: Subscription, names = recordColumns): (string | undefined)[] {
  const fields = fieldsOf(subscription);
  return names.map((name) => fields.get(name));
}

const statusStyles: Readonly<Record<string, 'green' | 'yellow' | 'magenta' | 'red'>> = {
  PENDING: 'yellow',
  ACTIVE: 'green',
  DEPLETED: 'magenta',
  EXPIRED: 'red',
};

/** Colors a known status; others keep the color of the terminal. */
export function paintStatus(text: string): string {
  const style = Object.hasOwn(statusStyles, text) ? statusStyles[text] : undefined;
  return style === undefined ? text : styleText(style, text, { validateStream: false });
}

/** The columns of a table of subscriptions. Dates are days in UTC. */
function subscriptionColumns(color: boolean): readonly Column<Subscription>[] {
  return [
    { header: 'ID', cell: ({ id }) => id },
    { header: 'STATUS', cell: ({ status }) => status ?? '-', ...(color && { paint: paintStatus }) },
    { header: 'PRODUCT', cell: ({ product }) => product.name ?? '-', least: 12, drop: 6 },
    { header: 'ICCID', cell: ({ iccid }) => iccid, drop: 4 },
    { header: 'DEVICE', cell: ({ device_id: device }) => device, least: 12, drop: 2 },
    { header: 'CREATED', cell: ({ createdDate }) => dayOf(createdDate), drop: 5 },
    { header: 'ACTIVATED', cell: ({ activationDate }) => dayOf(activationDate), drop: 1 },
    { header: 'EXPIRES', cell: ({ expirationDate }) => dayOf(expirationDate), drop: 7 },
    { header: 'RENEWS', cell: ({ auto_renew: renews }) => (renews === 'true' ? 'yes' : 'no'), drop: 3 },
  ];
}

const dayOf = (instant: string): string => instant.slice(0, 10);
