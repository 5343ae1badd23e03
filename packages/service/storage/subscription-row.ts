/** A stored subscription: its JSON text, and the columns that filters and orders compare. */
export interface SubscriptionRow {
  readonly id: string;
  /** Dates as whole UTC epoch seconds. */
  readonly createdDate: number;
  readonly activationDate: number;
  readonly expirationDate: number;
  readonly status: string | null;
  readonly productId: string;
  readonly planId: string | null;
  readonly iccid: string;
  readonly deviceId: string;
  /** As in the record: `true` or `false`. */
  readonly autoRenew: string;
  /** Normalised email address or identifier of the subscriber. A filter; never in `record`. */
  readonly email: string | null;
  /** The JSON text of the record, as it is sent. */
  readonly record: string;
}

/** The date columns that reports can be ordered and filtered by. */
export const dateColumns = ['created_date', 'activation_date', 'expiration_date'] as const;

interface RowColumn {
  readonly name: string;
  /** A `bigint` is a date in UTC epoch seconds. */
  readonly type: 'text' | 'bigint';
  readonly read: (row: SubscriptionRow) => string | number | null;
  /** Where the record has its value, if it has it: `product.id`. */
  readonly path?: string;
  /** Whether the record may lack it; the column is null then. */
  readonly isOptional?: boolean;
}

/**
 * The columns of a row except the tenant and the revision. All statements that write rows are made
 * from them (docs/contributors/how-to-change.md). The id is first.
 */
export const rowColumns: readonly RowColumn[] = [
  { name: 'id', type: 'text', read: (row) => row.id, path: 'id' },
  { name: 'created_date', type: 'bigint', read: (row) => row.createdDate, path: 'createdDate' },
  { name: 'activation_date', type: 'bigint', read: (row) => row.activationDate, path: 'activationDate' },
  { name: 'expiration_date', type: 'bigint', read: (row) => row.expirationDate, path: 'expirationDate' },
  { name: 'status', type: 'text', read: (row) => row.status, path: 'status', isOptional: true },
  { name: 'product_id', type: 'text', read: (row) => row.productId, path: 'product.id' },
  { name: 'iccid', type: 'text', read: (row) => row.iccid, path: 'iccid' },
  { name: 'email', type: 'text', read: (row) => row.email },
  { name: 'record', type: 'text', read: (row) => row.record },
  { name: 'plan_id', type: 'text', read: (row) => row.planId, path: 'product.plan_id', isOptional: true },
  { name: 'device_id', type: 'text', read: (row) => row.deviceId, path: 'device_id' },
  { name: 'auto_renew', type: 'text', read: (row) => row.autoRenew, path: 'auto_renew' },
];

/** The names of the columns, separated by commas; with `table`, of that table. */
export const columnNames = (table = ''): string =>
  rowColumns.map(({ name }) => (table === '' ? name : `${table}.${name}`)).join(', ');

/** SQL of an upsert: assigns all columns of the new row except the id. */
export const assignColumns = rowColumns
  .slice(1)
  .map(({ name }) => `${name} = excluded.${name}`)
  .join(', ');

/** The definitions of the columns of a temporary table, with the type of each. */
export const defineColumns = (types: { readonly id: string; readonly text: string; readonly bigint: string }): string =>
  rowColumns.map(({ name, type }) => `${name} ${name === 'id' ? types.id : types[type]}`).join(', ');

/** The values of a row, in the order of `rowColumns`. */
export const rowValues = (row: SubscriptionRow): (string | number | null)[] => rowColumns.map(({ read }) => read(row));

/** Placeholders for `rowValues`, separated by commas. */
export const valuePlaceholders = (first: number): string =>
  rowColumns.map((_, index) => `$${first + index}`).join(', ');

/** The columns of a version; `$1` is the tenant, `$2` the revision that ends it. */
export const versionColumns = `tenant_id, until_revision, from_revision, ${columnNames()}`;
