/** A stored subscription: its JSON text, and the columns that filters and orders compare. */
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
  /** As in the record: `true` or `false`. */
  readonly autoRenew: string;
  /** Normalised e-mail address or identifier of the subscriber. A filter; never in `record`. */
  readonly email: string | null;
  /** The JSON text of the record, as it is sent. */
  readonly record: string;
}

const columns = [
  ...['id', 'created_date', 'activation_date', 'expiration_date', 'status', 'product_id', 'iccid', 'email', 'record'],
  ...['plan_id', 'device_id', 'auto_renew'],
];

/** The columns of a row, in the order of `rowValues`. */
export const rowColumns = columns.join(', ');

/** SQL of an upsert: assigns all columns of the new row except the id. */
export const assignRowColumns = columns
  .slice(1)
  .map((name) => `${name} = excluded.${name}`)
  .join(', ');

/** The values of `rowColumns`. */
export function rowValues(row: SubscriptionRow): (string | number | null)[] {
  const { id, createdDate, activationDate, expirationDate, status, productId, iccid, email, record } = row;
  const { planId, deviceId, autoRenew } = row;
  return [
    ...[id, createdDate, activationDate, expirationDate, status, productId, iccid, email, record],
    ...[planId, deviceId, autoRenew],
  ];
}

// The statements that both engines share when they change a tenant's subscriptions.

export const selectRevision = 'select revision from tenant where id = $1';

export const setRevision = 'update tenant set revision = $2 where id = $1';

export const selectAnyTombstone = 'select 1 as found from subscription_tombstone where tenant_id = $1 limit 1';
