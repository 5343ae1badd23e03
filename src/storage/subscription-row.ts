/**
 * A subscription as it is kept: the text that goes on the wire, beside the columns that filters and
 * orders compare.
 */
export interface SubscriptionRow {
  readonly id: string;
  /** Dates as whole UTC epoch seconds. */
  readonly createdDate: number;
  readonly activationDate: number;
  readonly expirationDate: number;
  readonly status: string | null;
  readonly productId: string;
  readonly planId: string;
  readonly iccid: string;
  readonly deviceId: string;
  /** The word on the wire: `true` or `false`. */
  readonly autoRenew: string;
  /**
   * Normalised e-mail address or identifier of the subscriber: a filter only, never part of
   * `record`.
   */
  readonly email: string | null;
  /** The finished JSON text of the record. */
  readonly record: string;
}

const columns = [
  ...['id', 'created_date', 'activation_date', 'expiration_date', 'status', 'product_id', 'iccid', 'email', 'record'],
  ...['plan_id', 'device_id', 'auto_renew'],
];

/** The columns of a row as a list for statements, in the order of `rowValues`. */
export const rowColumns = columns.join(', ');

/**
 * Lets a row that is there already take the columns of the one that was to be inserted, but for its
 * id.
 */
export const assignRowColumns = columns
  .slice(1)
  .map((name) => `${name} = excluded.${name}`)
  .join(', ');

/** What a row binds for `rowColumns`. */
export function rowValues(row: SubscriptionRow): (string | number | null)[] {
  const { id, createdDate, activationDate, expirationDate, status, productId, iccid, email, record } = row;
  const { planId, deviceId, autoRenew } = row;
  return [
    ...[id, createdDate, activationDate, expirationDate, status, productId, iccid, email, record],
    ...[planId, deviceId, autoRenew],
  ];
}

// Statements that change a tenant's subscriptions, as far as they are the same on both engines.

export const selectRevision = 'select revision from tenant where id = $1';

export const setRevision = 'update tenant set revision = $2 where id = $1';

export const selectAnyTombstone = 'select 1 as found from subscription_tombstone where tenant_id = $1 limit 1';
