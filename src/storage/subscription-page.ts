import { type PageStart, pageStatement, type SubscriptionOrder } from './page-sql.ts';
import type { Row, SqlValue, TenantReader, TenantSnapshot } from './store.ts';
import { and, binder, filterConditions, isCounted, type SubscriptionFilter } from './subscription-filter.ts';
import { type FilterRange, findSpan, readGroups, readRange } from './subscription-rank.ts';
import { type OrderKey, spanRowsAimed } from './subscription-span.ts';

/** Where a page begins: after so many records of the order, just after a record, or just before one. */
export type PagePosition =
  | { readonly kind: 'offset'; readonly skip: number }
  | { readonly kind: 'after' | 'before'; readonly key: OrderKey };

/** One record of a page: where it stands, and its finished text. */
export interface PageRecord extends OrderKey {
  readonly record: string;
}

/**
 * Reads up to `limit` records from a position, in the order asked for (for a `before` position too: the nearest ones before it). In the order of `createdDate`
 * and with a filter that the kept counts know (`isCounted`), every position costs the same. `range` is that of the filter, when the caller asks for it anyway.
 */
export async function readPage(
  reader: TenantReader,
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  position: PagePosition,
  limit: number,
  range?: Promise<FilterRange>,
): Promise<readonly PageRecord[]> {
  if (position.kind === 'offset') {
    const start = await findStart(reader, filter, order, position.skip, range);
    return start === undefined ? [] : readRecords(reader, filter, order, start, limit);
  }
  const back = position.kind === 'before';
  const direction = { ...order, descending: order.descending !== back };
  const records = await readRecords(reader, filter, direction, { kind: 'beyond', key: position.key }, limit);
  return back ? records.toReversed() : records;
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
  return (await readRange(reader, filter)).total;
}

/** The finished text of one record, or `undefined` when the tenant has none of this id. */
export async function readRecord(reader: TenantReader, id: string): Promise<string | undefined> {
  const [row] = await reader.all('select record from subscription where tenant_id = $1 and id = $2', [id]);
  return row === undefined ? undefined : String(row.record);
}

/** So many steps by key cost no more than a step inside a span does: the counts are not asked. */
export const directStepsMax = spanRowsAimed / 2;

/** Where the page begins that has so many records before it; `undefined` when there are not so many. */
async function findStart(
  reader: TenantReader,
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  skip: number,
  range?: Promise<FilterRange>,
): Promise<PageStart | undefined> {
  if (skip === 0) return { kind: 'first' };
  const counted = isCounted(filter) && order.column === 'created_date';
  if (!counted || skip <= directStepsMax) return { kind: 'step', steps: skip };
  const [{ start, total }, groups] = await Promise.all([
    range ?? readRange(reader, filter),
    readGroups(reader, filter),
  ]);
  if (skip >= total) return undefined;
  const span = await findSpan(reader, filter, groups, order.descending ? start + total - 1 - skip : start + skip);
  if (span === undefined) return undefined;
  const { from, until, n } = span;
  const down = span.skip > n / 2; // from the nearer end
  return { kind: 'step', steps: down ? n - 1 - span.skip : span.skip, span: { from, until, down } };
}

async function readRecords(
  reader: TenantReader,
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  start: PageStart,
  limit: number,
): Promise<readonly PageRecord[]> {
  const { sql, values } = pageStatement(filter, order, start, limit);
  return (await reader.all(sql, values)).map(toPageRecord);
}

function toPageRecord(row: Row): PageRecord {
  return { date: Number(row.date), id: String(row.id), record: String(row.record) };
}
