import { type PageStart, pageSql, type SubscriptionOrder } from './page-sql.ts';
import type { Row, SqlValue, TenantReader, TenantSnapshot, TenantSql, TenantStatement } from './store.ts';
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

/** What is known beside a page that is read. */
export interface PageReading {
  /** The range of the filter, when the caller asks for it anyway. */
  readonly range?: Promise<FilterRange>;
  /** Whether nothing more is read at this moment. */
  readonly isLast?: boolean;
}

/**
 * Reads up to `limit` records from a position, in the order asked for (for a `before` position too: the nearest ones before it). In the order of `createdDate`
 * and with a filter that the kept counts know (`isCounted`), every position costs the same.
 */
export async function readPage(
  reader: TenantReader,
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  position: PagePosition,
  limit: number,
  { range, isLast = false }: PageReading = {},
): Promise<readonly PageRecord[]> {
  const readRecords = async (by: SubscriptionOrder, start: PageStart): Promise<readonly PageRecord[]> => {
    const { sql, values } = recordsStatement(filter, by, start, limit);
    const [row] = await (isLast && reader.last !== undefined ? reader.last(sql, values) : reader.all(sql, values));
    return toRecords(row);
  };
  if (position.kind === 'offset') {
    const start = await findStart(reader, filter, order, position.skip, range);
    return start === undefined ? [] : readRecords(order, start);
  }
  const back = position.kind === 'before';
  const direction = { ...order, descending: order.descending !== back };
  const records = await readRecords(direction, { kind: 'beyond', key: position.key });
  return back ? records.toReversed() : records;
}

/** The statement that reads up to `limit` records in an order from a start, as one value, which costs this process less than rows. */
export function recordsStatement(
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  start: PageStart,
  limit: number,
): TenantStatement {
  const values: SqlValue[] = [];
  const page = pageSql(filter, order, start, limit, binder(values));
  const sql = `select string_agg(cast(date as text) || ' ' || id || '\n' || record, '\n') as records from (${page}) as page`;
  return { sql: sql as TenantSql, values };
}

/** The records that `recordsStatement` read: keys and records by turns, a line each. Neither holds a line end: JSON escapes it, and ids have none. */
export function toRecords(row: Row | undefined): readonly PageRecord[] {
  const lines = typeof row?.records === 'string' ? row.records.split('\n') : [];
  const records: PageRecord[] = [];
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const [key = '', record = ''] = [lines[index], lines[index + 1]];
    const blank = key.indexOf(' ');
    records.push({ date: Number(key.slice(0, blank)), id: key.slice(blank + 1), record });
  }
  return records;
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
