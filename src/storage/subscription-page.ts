import type { Row, SqlValue, TenantReader, TenantSnapshot } from './store.ts';

/** A column that orders subscriptions and that bounds compare with. */
export type DateColumn = 'created_date' | 'activation_date' | 'expiration_date';

/** Bounds of one date. */
export interface DateBounds {
  /** The date that the two bounds compare with. */
  readonly dateColumn: DateColumn;
  /** Only dates greater than this, in whole UTC epoch seconds. */
  readonly afterSeconds?: number;
  /** Only dates less than this, in whole UTC epoch seconds. */
  readonly beforeSeconds?: number;
}

/** Which subscriptions: all conditions hold at once. */
export interface SubscriptionFilter extends DateBounds {
  readonly iccid?: string;
  /** Normalised (`contract/email.ts`). */
  readonly email?: string;
  readonly productId?: string;
  /** One of these; not empty. */
  readonly statuses?: readonly string[];
  readonly planId?: string;
  readonly deviceId?: string;
  /** The word on the wire: `true` or `false`. */
  readonly autoRenew?: string;
  /** Bounds of further dates. */
  readonly furtherBounds?: readonly DateBounds[];
}

/** A total order: the date, then the id, both in the same direction. */
export interface SubscriptionOrder {
  readonly column: DateColumn;
  readonly descending: boolean;
}

/** Where a record stands in an order. */
export interface SubscriptionKey {
  readonly date: number;
  readonly id: string;
}

/** Where a page begins: after so many records of the order, just after a record, or just before one. */
export type PagePosition =
  | { readonly kind: 'offset'; readonly skip: number }
  | { readonly kind: 'after' | 'before'; readonly key: SubscriptionKey };

/** One record of a page: where it stands, and its finished text. */
export interface PageRecord extends SubscriptionKey {
  readonly record: string;
}

/** Reads up to `limit` records from a position, in the order asked for (for a `before` position too: the nearest ones before it). */
export async function readPage(
  reader: TenantReader,
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  position: PagePosition,
  limit: number,
): Promise<readonly PageRecord[]> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const backward = position.kind === 'before';
  const descending = order.descending !== backward;
  const direction = descending ? 'desc' : 'asc';
  const date = order.column;
  const conditions = filterConditions(filter, bind);
  if (position.kind !== 'offset') {
    const { key } = position;
    conditions.push(`(${date}, id) ${descending ? '<' : '>'} (${bind(key.date)}, ${bind(key.id)})`);
  }
  const skip = position.kind === 'offset' ? ` offset ${bind(position.skip)}` : '';
  const rows = await reader.all(
    `select ${date} as date, id, record from subscription where tenant_id = $1${and(conditions)}
     order by ${date} ${direction}, id ${direction} limit ${bind(limit)}${skip}`,
    values,
  );
  const records = rows.map(toPageRecord);
  return backward ? records.reverse() : records;
}

/** The finished texts of all records that a filter lets through, in an order, in batches of so many. */
export async function* streamRecords(
  snapshot: TenantSnapshot,
  filter: SubscriptionFilter,
  { column, descending }: SubscriptionOrder,
  batchRows: number,
): AsyncGenerator<readonly string[]> {
  const values: SqlValue[] = [];
  const conditions = filterConditions(filter, binder(values));
  const direction = descending ? 'desc' : 'asc';
  const sql = `select record from subscription where tenant_id = $1${and(conditions)}
     order by ${column} ${direction}, id ${direction}` as const;
  for await (const rows of snapshot.stream(sql, values, batchRows)) yield rows.map(({ record }) => String(record));
}

/** Counts the records that a filter lets through. */
export async function countMatching(reader: TenantReader, filter: SubscriptionFilter): Promise<number> {
  const values: SqlValue[] = [];
  const conditions = filterConditions(filter, binder(values));
  const [row] = await reader.all(
    `select count(*) as n from subscription where tenant_id = $1${and(conditions)}`,
    values,
  );
  return Number(row?.n ?? 0);
}

/** The finished text of one record, or `undefined` when the tenant has none of this id. */
export async function readRecord(reader: TenantReader, id: string): Promise<string | undefined> {
  const [row] = await reader.all('select record from subscription where tenant_id = $1 and id = $2', [id]);
  return row === undefined ? undefined : String(row.record);
}

type Bind = (value: SqlValue) => string;

/** Collects values and gives the placeholder of each; `$1` is the tenant. */
function binder(values: SqlValue[]): Bind {
  return (value) => `$${values.push(value) + 1}`;
}

function filterConditions(filter: SubscriptionFilter, bind: Bind): string[] {
  const { iccid, email, productId, statuses, planId, deviceId, autoRenew, furtherBounds = [] } = filter;
  const conditions: string[] = [];
  if (iccid !== undefined) conditions.push(`iccid = ${bind(iccid)}`);
  if (email !== undefined) conditions.push(`email = ${bind(email)}`);
  if (productId !== undefined) conditions.push(`product_id = ${bind(productId)}`);
  if (statuses !== undefined) conditions.push(`status in (${statuses.map(bind).join(', ')})`);
  if (planId !== undefined) conditions.push(`plan_id = ${bind(planId)}`);
  if (deviceId !== undefined) conditions.push(`device_id = ${bind(deviceId)}`);
  if (autoRenew !== undefined) conditions.push(`auto_renew = ${bind(autoRenew)}`);
  for (const { dateColumn, afterSeconds, beforeSeconds } of [filter, ...furtherBounds]) {
    if (afterSeconds !== undefined) conditions.push(`${dateColumn} > ${bind(afterSeconds)}`);
    if (beforeSeconds !== undefined) conditions.push(`${dateColumn} < ${bind(beforeSeconds)}`);
  }
  return conditions;
}

const and = (conditions: readonly string[]): string => conditions.map((condition) => ` and ${condition}`).join('');

function toPageRecord(row: Row): PageRecord {
  return { date: Number(row.date), id: String(row.id), record: String(row.record) };
}
