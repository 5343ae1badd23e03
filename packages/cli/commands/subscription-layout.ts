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

/**
 * One row per change: all columns or those of `fields`; for a removed subscription only its id.
 */
export function changeLayout(color: boolean, fields?: string): RowLayout<SubscriptionChange> {
  const others = subscriptionLayout(color, fields).columns.filter(({ header }) => header.toLowerCase() !== 'id');
  const columns: Column<SubscriptionChange>[] = others.map((column) => ({
    ...column,
    cell: (change) => (isRemoved(change) ? '' : column.cell(change)),
  }));
  const names = columnsOf(fields);
  return {
    columns: [{ header: 'CHANGE', cell: kindOf }, { header: 'ID', cell: ({ id }) => id ?? '-' }, ...columns],
    csvHeader: ['removed', ...names],
    csvCells: (change) =>
      isRemoved(change)
        ? ['true', ...names.map((name) => (name === 'id' ? change.id : undefined))]
        : [undefined, ...cellsOf(change, names)],
  };
}

/** The columns of a change, which always include the id. */
function columnsOf(fields: string | undefined): readonly string[] {
  const names = fields === undefined ? recordColumns : readFields(fields).fields;
  return names.includes('id') ? names : ['id', ...names];
}

/** Changes of `--before`: when each was committed, and the fields that differ. */
export function describedLayout(fields?: string): RowLayout<SubscriptionChange | DescribedChange> {
  const names = columnsOf(fields);
  const cells = (record: Subscription | undefined) => (record ? cellsOf(record, names) : names.map(() => undefined));
  return {
    columns: [
      { header: 'CHANGE', cell: kindOf },
      { header: 'COMMITTED', cell: (change) => detailsOf(change).committed_at ?? '-', drop: 1 },
      { header: 'ID', cell: ({ id }) => id ?? '-' },
      { header: 'DIFFERENCES', cell: differencesIn },
    ],
    csvHeader: ['kind', 'committed_at', 'import_id', ...names, ...names.map((name) => `before.${name}`)],
    csvCells: (change) => {
      const { committed_at: at, import_id: importId, before } = detailsOf(change);
      const now = cells(isRemoved(change) ? undefined : change);
      const own = names.map((name, index) => (name === 'id' ? change.id : now[index]));
      return [kindOf(change), at, importId, ...own, ...cells(before)];
    },
  };
}

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
    { header: 'PRODUCT', cell: ({ product }) => product.name ?? '-', drop: 6 },
    { header: 'ICCID', cell: ({ iccid }) => iccid, drop: 4 },
    { header: 'DEVICE', cell: ({ device_id: device }) => device, drop: 2 },
    { header: 'CREATED', cell: ({ createdDate }) => dayOf(createdDate), drop: 5 },
    { header: 'ACTIVATED', cell: ({ activationDate }) => dayOf(activationDate), drop: 1 },
    { header: 'EXPIRES', cell: ({ expirationDate }) => dayOf(expirationDate), drop: 7 },
    { header: 'RENEWS', cell: ({ auto_renew: renews }) => (renews === 'true' ? 'yes' : 'no'), drop: 3 },
  ];
}

const dayOf = (instant: string): string => instant.slice(0, 10);
