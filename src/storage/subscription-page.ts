import { type PageStart, pageSql, type SubscriptionOrder } from './page-sql.ts';
import type {
  Row,
  SqlValue,
  Store,
  TenantId,
  TenantReader,
  TenantSnapshot,
  TenantSql,
  TenantStatement,
} from './store.ts';
import { and, type Bind, binder, filterConditions, isCounted, type SubscriptionFilter } from './subscription-filter.ts';
import { type FilterRange, findSpan, rangeSql, readGroups, readRange, toRange } from './subscription-rank.ts';
import { type OrderKey, spanRowsAimed } from './subscription-span.ts';

/** Where a page begins: after so many records of the order, just after a record, or just before one. */
export type PagePosition =
  | { readonly kind: 'offset'; readonly skip: number }
  | { readonly kind: 'after' | 'before'; readonly key: OrderKey };

/** One record of a page: where it stands, and its finished text. */
export interface PageRecord extends OrderKey {
  readonly record: string;
}

/** Records of one moment, and what is to be told beside them. */
export interface Page {
  /** In the order asked for. */
  readonly records: readonly PageRecord[];
  /** All records that the filter lets through. */
  readonly total: number;
  /** Whether there is a record on the other side of the key that the page lies after or before; `false` for a page by its number. */
  readonly isBeyondKey: boolean;
  /** The tenant's revision. */
  readonly revision: number;
}

/**
 * Reads up to `limit` records from a position, in the order asked for (for a `before` position too: the nearest ones before it), and their total. In the order
 * of `createdDate` and with a filter that the kept counts know (`isCounted`), every position costs the same. What a page costs is less its records than its
 * statements, so there are two of them unless the counts must find the place first; all in one took SQLite twice as long.
 */
export async function readPage(
  store: Pick<Store, 'readTenant' | 'readTenantOnce'>,
  tenant: TenantId,
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  position: PagePosition,
  limit: number,
): Promise<Page> {
  if (position.kind === 'offset' && !isNear(filter, order, position.skip))
    return store.readTenant(tenant, (reader) => readDeepPage(reader, filter, order, position.skip, limit));
  const back = position.kind === 'before';
  const [[head] = [], [body] = []] = await store.readTenantOnce(tenant, [
    describeStatement(filter, isBeyondKey(filter, back ? order : reverse(order), position)),
    recordsStatement(filter, back ? reverse(order) : order, startOf(position), limit),
  ]);
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

/** A page after so many records, whose first one is found by the kept counts. */
async function readDeepPage(
  reader: TenantReader,
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  skip: number,
  limit: number,
): Promise<Page> {
  const { sql, values } = describeStatement(filter, () => '0');
  const [[head], groups] = await Promise.all([reader.all(sql, values), readGroups(reader, filter)]);
  const description = toDescription(head);
  const start = await findStart(reader, filter, order, skip, toRange(head), groups);
  if (start === undefined) return { ...description, records: [] };
  const page = recordsStatement(filter, order, start, limit);
  const [body] = await (reader.last ?? reader.all)(page.sql, page.values);
  return { ...description, records: toRecords(body) };
}

/** The first record with so many before it, as steps inside its span; `undefined` when there are not so many. */
async function findStart(
  reader: TenantReader,
  filter: SubscriptionFilter,
  { descending }: SubscriptionOrder,
  skip: number,
  { start, total }: FilterRange,
  groups: readonly number[],
): Promise<PageStart | undefined> {
  if (skip >= total) return undefined;
  const span = await findSpan(reader, filter, groups, descending ? start + total - 1 - skip : start + skip);
  if (span === undefined) return undefined;
  const { from, until, n } = span;
  const down = span.skip > n / 2; // from the nearer end
  return { kind: 'step', steps: down ? n - 1 - span.skip : span.skip, span: { from, until, down } };
}

/** The statement of what is to be told beside the records; `beyondKey` is the expression of `isBeyondKey`. */
function describeStatement(filter: SubscriptionFilter, beyondKey: (bind: Bind) => string): TenantStatement {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const { start, end } = rangeSql(filter, bind);
  const sql = `select revision, ${start} as range_start, ${end} as range_end, ${beyondKey(bind)} as beyond_key
    from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1` as const;
  return { sql, values };
}

const toDescription = (row: Row | undefined): Omit<Page, 'records'> => ({
  total: toRange(row).total,
  isBeyondKey: Number(row?.beyond_key ?? 0) > 0,
  revision: Number(row?.revision ?? 0),
});

/** How many records, one at most, stand at the key or on its other side; `away` is the order that leads there from the page. */
const isBeyondKey =
  (filter: SubscriptionFilter, away: SubscriptionOrder, position: PagePosition) =>
  (bind: Bind): string => {
    if (position.kind === 'offset') return '0';
    const start = { kind: 'beyond', key: position.key, isKeyItself: true } as const;
    return `(select count(*) from (${pageSql(filter, away, start, 1, bind)}) as beyond)`;
  };

const reverse = (order: SubscriptionOrder): SubscriptionOrder => ({ ...order, descending: !order.descending });

/** The statement that reads up to `limit` records in an order from a start, as one value, which costs this process less than rows. */
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

/** The records that `recordsStatement` read: keys and records by turns, a line each. Neither holds a line end: JSON escapes it, and ids have none. */
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
