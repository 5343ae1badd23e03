import {
  type FilterRange,
  findSpan,
  rangeSql,
  readGroups,
  readRange,
  seriesOfFilter,
  toRange,
} from '../counts/range.ts';
import { spanRowsAimed } from '../counts/span.ts';
import type { SpanList, SpanPosition } from '../counts/span-list.ts';
import type { SpanMemory } from '../counts/span-memory.ts';
import type { OrderKey } from '../order-key.ts';
import type {
  ReadOptions,
  Row,
  SqlValue,
  Store,
  TenantId,
  TenantReader,
  TenantSnapshot,
  TenantSql,
  TenantStatement,
} from '../store.ts';
import {
  and,
  type Bind,
  binder,
  filterConditions,
  isCounted,
  type SubscriptionFilter,
} from '../subscription-filter.ts';
import { type PageStart, pageSql, type SubscriptionOrder } from './page-sql.ts';

/**
 * Where a page begins: after so many records of the order, just after a record, or just before one.
 */
export type PagePosition =
  | { readonly kind: 'offset'; readonly skip: number }
  | { readonly kind: 'after' | 'before'; readonly key: OrderKey };

/** One record of a page: where it stands, and its finished text. */
export interface PageRecord extends OrderKey {
  readonly record: string;
}

/** Records of one moment, and what is to be told beside them. */
interface Page {
  /** In the order asked for. */
  readonly records: readonly PageRecord[];
  /** All records that the filter lets through. */
  readonly total: number;
  /**
   * Whether there is a record on the other side of the key that the page lies after or before;
   * `false` for a page by its number.
   */
  readonly isBeyondKey: boolean;
  /** The tenant's revision. */
  readonly revision: number;
}

/** What pages are read with: the store, and spans that are remembered between pages. */
export interface PageContext {
  readonly store: Pick<Store, 'readTenant' | 'readTenantOnce'>;
  readonly spans?: SpanMemory;
}

/**
 * Reads up to `limit` records from a position, in the order asked for (for a `before` position too:
 * the nearest ones before it), and their total. In the order of `createdDate` and with a filter
 * that the kept counts know (`isCounted`), every position costs the same. What a page costs is less
 * its records than its statements, so there are two of them unless the counts must find the place
 * first; all in one took SQLite twice as long.
 */
export async function readPage(
  { store, spans }: PageContext,
  tenant: TenantId,
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  position: PagePosition,
  limit: number,
): Promise<Page> {
  const asked = { filter, order, limit };
  if (isNarrow(filter, order, position)) {
    const page = await readNearPage(store, tenant, { ...asked, ...bounded, totalMax: narrowRowsMax + 1 }, position);
    if (page.total <= narrowRowsMax) return page;
  }
  const isDeep = position.kind === 'offset' && !isNear(filter, order, position.skip);
  const read = (list: SpanList | undefined): Promise<Page> => {
    const options = { ...asked, isBounded: isBounded(filter, order, position), ...(list !== undefined && { list }) };
    return isDeep
      ? readDeepPage(store, tenant, options, position.skip)
      : readNearPage(store, tenant, options, position);
  };
  const hasBounds = filter.afterSeconds !== undefined || filter.beforeSeconds !== undefined;
  if (spans === undefined || !isCounted(filter) || !(hasBounds || isDeep)) return read(undefined);
  return spans.use(store, tenant, seriesOfFilter(filter), read);
}

const bounded: ReadOptions = { isBounded: true };

/**
 * Whether a page and its total cost about as much however many records there are: an index has the
 * filter's records in the order asked for, the counts know their number and, where the page is not
 * near to the first record, where it begins.
 */
function isBounded(filter: SubscriptionFilter, order: SubscriptionOrder, position: PagePosition): boolean {
  if (!isCounted(filter)) return false;
  if (order.column === 'created_date') return true;
  const { dateColumn: _dateColumn, ...conditions } = filter;
  return Object.keys(conditions).length === 0 && isStepped(position);
}

/**
 * Up to so many records of one SIM, device or subscriber are counted one by one on the main thread:
 * some 50 µs.
 */
const narrowRowsMax = 1_000;

/**
 * Whether one index has the filter's records in the order asked for, and probably few of them, so
 * that it is worth to count as many as may be few. With bounds of a date, SQLite may choose the
 * index of the date.
 */
function isNarrow(filter: SubscriptionFilter, { column }: SubscriptionOrder, position: PagePosition): boolean {
  const { iccid, email, deviceId, dateColumn: _dateColumn, ...others } = filter;
  const isAlone = [iccid, email, deviceId].filter((value) => value !== undefined).length === 1;
  return isAlone && Object.keys(others).length === 0 && column === 'created_date' && isStepped(position);
}

/** Whether a position is reached by a key, or by at most so many steps from the first record. */
const isStepped = (position: PagePosition): boolean => position.kind !== 'offset' || position.skip <= nearStepsMax;

/** What is read: records of a filter in an order, so many at most. */
interface Asked extends ReadOptions {
  readonly filter: SubscriptionFilter;
  readonly order: SubscriptionOrder;
  readonly limit: number;
  /** Spans of the filter's series. */
  readonly list?: SpanList;
  /** A total above it is told as this. */
  readonly totalMax?: number;
}

/** A page at a key, or so near to the first record that it is stepped to from there. */
async function readNearPage(
  store: PageContext['store'],
  tenant: TenantId,
  asked: Asked,
  position: PagePosition,
): Promise<Page> {
  const { filter, order, limit } = asked;
  const back = position.kind === 'before';
  const statements = [
    describeStatement(asked, isBeyondKey(filter, back ? order : reverse(order), position)),
    recordsStatement(filter, back ? reverse(order) : order, startOf(position), limit),
  ];
  const [[head] = [], [body] = []] = await store.readTenantOnce(tenant, statements, asked);
  const records = toRecords(body);
  return { ...toDescription(head), records: back ? records.toReversed() : records };
}

/** So many steps by key cost no more than a step inside a span does: the counts are not asked. */
const nearStepsMax = spanRowsAimed / 2;

/** Whether the place after so many records is stepped to from the first one. */
const isNear = (filter: SubscriptionFilter, { column }: SubscriptionOrder, skip: number): boolean =>
  skip <= nearStepsMax || !isCounted(filter) || column !== 'created_date';

function startOf(position: PagePosition): PageStart {
  if (position.kind !== 'offset') return { kind: 'beyond', key: position.key };
  return position.skip === 0 ? { kind: 'first' } : { kind: 'step', steps: position.skip };
}

/**
 * A page after so many records, whose first one is found by the counts: by those at hand, or by
 * those that are kept.
 */
async function readDeepPage(store: PageContext['store'], tenant: TenantId, asked: Asked, skip: number): Promise<Page> {
  const { filter, order, limit, list } = asked;
  const { statuses } = filter;
  const describe = describeStatement(asked, () => '0');
  const recordsFrom = (span: SpanPosition) => recordsStatement(filter, order, stepsInto(span), limit);
  const isOpen = (order.descending ? filter.beforeSeconds : filter.afterSeconds) === undefined;
  if (list !== undefined && isOpen) {
    const rank = rankOf(order, skip, { start: 0, total: list.before(list.length, statuses) });
    const span = list.find(rank, statuses);
    const statements = span === undefined ? [describe] : [describe, recordsFrom(span)];
    const [[head] = [], [body] = []] = await store.readTenantOnce(tenant, statements, asked);
    return { ...toDescription(head), records: toRecords(body) };
  }
  const read = async (reader: TenantReader): Promise<Page> => {
    const [[head], groups] = await Promise.all([
      reader.all(describe.sql, describe.values),
      list === undefined ? readGroups(reader, filter) : [],
    ]);
    const range = toRange(head);
    const rank = rankOf(order, skip, range);
    const find = () => (list === undefined ? findSpan(reader, filter, groups, rank) : list.find(rank, statuses));
    const span = skip < range.total ? await find() : undefined;
    if (span === undefined) return { ...toDescription(head), records: [] };
    const page = recordsFrom(span);
    const [body] = await (reader.last ?? reader.all)(page.sql, page.values);
    return { ...toDescription(head), records: toRecords(body) };
  };
  return store.readTenant(tenant, read, asked);
}

/**
 * How many records of a filter's product and statuses lie before the one that has so many of the
 * filter's before it in an order.
 */
const rankOf = ({ descending }: SubscriptionOrder, skip: number, { start, total }: FilterRange): number =>
  descending ? start + total - 1 - skip : start + skip;

/** The way to a record inside its span, from the nearer end. */
function stepsInto({ from, until, skip, n }: SpanPosition): PageStart {
  const down = skip > n / 2;
  return { kind: 'step', steps: down ? n - 1 - skip : skip, span: { from, until, down } };
}

/**
 * The statement of what is to be told beside the records; `beyondKey` is the expression of
 * `isBeyondKey`.
 */
function describeStatement({ filter, list, totalMax }: Asked, beyondKey: (bind: Bind) => string): TenantStatement {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const { start, end } = rangeSql(filter, bind, list, totalMax);
  const sql = `select revision, ${start} as range_start, ${end} as range_end, ${beyondKey(bind)} as beyond_key
    from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1` as const;
  return { sql, values };
}

const toDescription = (row: Row | undefined): Omit<Page, 'records'> => ({
  total: toRange(row).total,
  isBeyondKey: Number(row?.beyond_key ?? 0) > 0,
  revision: Number(row?.revision ?? 0),
});

/**
 * How many records, one at most, stand at the key or on its other side; `away` is the order that
 * leads there from the page.
 */
const isBeyondKey =
  (filter: SubscriptionFilter, away: SubscriptionOrder, position: PagePosition) =>
  (bind: Bind): string => {
    if (position.kind === 'offset') return '0';
    const start = { kind: 'beyond', key: position.key, isKeyItself: true } as const;
    return `(select count(*) from (${pageSql(filter, away, start, 1, bind)}) as beyond)`;
  };

const reverse = (order: SubscriptionOrder): SubscriptionOrder => ({ ...order, descending: !order.descending });

/**
 * The statement that reads up to `limit` records in an order from a start, as one value, which
 * costs this process less than rows.
 */
function recordsStatement(
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

/**
 * The records that `recordsStatement` read: keys and records by turns, a line each. Neither holds a
 * line end: JSON escapes it, and ids have none.
 */
function toRecords(row: Row | undefined): readonly PageRecord[] {
  const lines = typeof row?.records === 'string' ? row.records.split('\n') : [];
  const records: PageRecord[] = [];
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const [key = '', record = ''] = [lines[index], lines[index + 1]];
    const blank = key.indexOf(' ');
    records.push({ date: Number(key.slice(0, blank)), id: key.slice(blank + 1), record });
  }
  return records;
}

/**
 * The finished texts of all records that a filter lets through, in an order, in batches of so many.
 */
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
