import type { Counts, FilterRange } from '../counts/counts.ts';
import { rangeColumns, rankAfter, toRange } from '../counts/range.ts';
import type { OrderKey } from '../order-key.ts';
import type { ReadOptions, Row, SqlValue, Store, TenantId, TenantReader, TenantStatement } from '../store.ts';
import { type Bind, binder, type SubscriptionFilter } from '../subscription-filter.ts';
import type { Layout } from '../utf8-column.ts';
import {
  countBeyondSql,
  noRecords,
  type PageRecords,
  type PageStart,
  recordsQuery,
  reverse,
  type SubscriptionOrder,
} from './page-sql.ts';

/** Where a page begins: after `skip` records of the order, or just after or before a record. */
export type PagePosition =
  | { readonly kind: 'offset'; readonly skip: number }
  | { readonly kind: 'after' | 'before'; readonly orderKey: OrderKey };

/** Records of one snapshot, and their total. */
export interface Page {
  readonly records: PageRecords;
  /** All records of the filter. */
  readonly total: number;
  /**
   * Whether there is a record at or on the other side of the position's key; `false` for a position
   * without one.
   */
  readonly isBeyondKey: boolean;
  /** Whether more records follow those of the page, away from the position. */
  readonly hasMore: boolean;
  /** The tenant's revision. */
  readonly revision: number;
}

/** The parts of the store that a page uses. */
export type PageStore = Pick<Store, 'engine' | 'readTenant' | 'readTenantOnce'>;

/** Which page is read. */
export interface PageQuery {
  readonly filter: SubscriptionFilter;
  readonly order: SubscriptionOrder;
  readonly position: PagePosition;
  /** The most records of the page. */
  readonly size: number;
  readonly layout: Layout;
}

/** Which page is read, and how. */
interface CountedPageQuery extends PageQuery, ReadOptions {
  /** Whether the counts must find the first record. */
  readonly isDeep: boolean;
}

/** Reads a page with some counts of its filter. */
export function readCountedPage(
  store: PageStore,
  tenant: TenantId,
  query: CountedPageQuery,
  counts: Counts,
): Promise<Page> {
  const { position, order, isDeep } = query;
  if (position.kind !== 'offset') return readAtOnce(store, tenant, query, counts, () => startAt(position));
  const { skip } = position;
  const { selectSql, range } = counts;
  const select = isDeep ? counts.selectFromEnd(order.descending) : undefined;
  const findStart = (): PageStart | undefined => {
    if (!isDeep) return startAt(position);
    const leaf = select?.(skip);
    return leaf && { kind: 'leaf', leaf };
  };
  if (range !== undefined && skip < range.total) {
    const start = findStart();
    if (start !== undefined) return readPlacedPage(store, tenant, query, start, { passed: skip, total: range.total });
  }
  if (!isDeep || select !== undefined) return readAtOnce(store, tenant, query, counts, findStart);
  if (store.engine === 'sqlite' || selectSql === undefined) return readSelected(store, tenant, query, counts, skip);
  const place = { skip, descending: order.descending };
  const leafSql = (bind: Bind) => selectSql(rankAfter(query.filter, counts, place, bind), bind);
  return readAtOnce(store, tenant, query, counts, () => ({ kind: 'selected', leafSql }));
}

/** Where a page begins, without counts. */
export function startAt(position: PagePosition): PageStart {
  if (position.kind !== 'offset') return { kind: 'beyond', orderKey: position.orderKey };
  return position.skip === 0 ? { kind: 'first' } : { kind: 'step', steps: position.skip };
}

/** Reads a page in one statement; `findStart` returns `undefined` if there are no records. */
async function readAtOnce(
  store: PageStore,
  tenant: TenantId,
  query: CountedPageQuery,
  counts: Counts,
  findStart: () => PageStart | undefined,
): Promise<Page> {
  const start = findStart();
  const body =
    start && bodyQuery(store, query, start, (bind) => `${headColumns(query, counts, bind)}, ${revisionColumn}`);
  const [[row] = []] = await store.readTenantOnce(tenant, [body ?? headQuery(query, counts)], query);
  return toPage(query, toHead(row), body?.toRecords(row) ?? noRecords);
}

/** Reads a page whose first record the stored or cached tree finds by its rank. */
function readSelected(
  store: PageStore,
  tenant: TenantId,
  query: CountedPageQuery,
  counts: Counts,
  skip: number,
): Promise<Page> {
  const { descending } = query.order;
  const read = async (reader: TenantReader): Promise<Page> => {
    const head = headQuery(query, counts);
    const [[headRow], select] = await Promise.all([reader.all(head.sql, head.values), counts.openSelect(reader)]);
    const range = toHead(headRow);
    const { start, total } = range;
    const rank = descending ? start + total - 1 - skip : start + skip;
    const leaf = skip < total ? await select(rank) : undefined;
    if (leaf === undefined) return toPage(query, range, noRecords);
    const body = bodyQuery(store, query, { kind: 'leaf', leaf });
    const [bodyRow] = await (reader.last ?? reader.all)(body.sql, body.values);
    return toPage(query, range, body.toRecords(bodyRow));
  };
  return store.readTenant(tenant, read, query);
}

/** Where the page after a key begins, at a revision. */
export interface Place {
  readonly revision: number;
  /** Records before the page. */
  readonly passed: number;
  /** All records of the filter. */
  readonly total: number;
}

/** Reads a page whose place is known, in one statement; the caller compares the revision. */
export async function readPlacedPage(
  store: PageStore,
  tenant: TenantId,
  query: PageQuery & ReadOptions,
  start: PageStart,
  { passed, total }: Omit<Place, 'revision'>,
): Promise<Page> {
  const body = bodyQuery(store, query, start, () => revisionColumn);
  const [[row] = []] = await store.readTenantOnce(tenant, [body], query);
  const records = body.toRecords(row);
  const hasMore = passed + records.count < total;
  const isBeyondKey = query.position.kind !== 'offset' && passed > 0;
  return { records, total, isBeyondKey, hasMore, revision: Number(row?.revision ?? 0) };
}

const revisionColumn =
  '(select revision from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1) as revision';

/** The statement of the records, with other columns. */
function bodyQuery({ engine }: PageStore, query: PageQuery, start: PageStart, columns?: (bind: Bind) => string) {
  const { filter, order, position, size, layout } = query;
  const isReversed = position.kind === 'before';
  return recordsQuery(engine, {
    filter,
    order: isReversed ? reverse(order) : order,
    start,
    limit: size,
    isReversed,
    layout,
    columns,
  });
}

/** Everything but the records. */
interface Head extends FilterRange, Pick<Page, 'isBeyondKey' | 'revision'> {
  /** How many records are beyond the key, counted up to one more than the page has. */
  readonly beyond: number;
}

/** The statement of everything but the records. */
function headQuery(query: CountedPageQuery, counts: Counts): TenantStatement {
  const values: SqlValue[] = [];
  const sql = `select revision, ${headColumns(query, counts, binder(values))}
    from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1` as const;
  return { sql, values };
}

/** Everything but the records and the revision. */
const headColumns = (query: CountedPageQuery, counts: Counts, bind: Bind): string =>
  `${rangeColumns(query.filter, counts, bind)}, ${besideKey(query, bind)}`;

const toHead = (row: Row | undefined): Head => ({
  ...toRange(row),
  isBeyondKey: Number(row?.behind ?? 0) > 0,
  beyond: Number(row?.beyond ?? 0),
  revision: Number(row?.revision ?? 0),
});

/** Selects how many records are behind the key of a page and beyond it, as far as that matters. */
function besideKey({ filter, order, position, size }: PageQuery, bind: Bind): string {
  if (position.kind === 'offset') return '0 as behind, 0 as beyond';
  const { orderKey } = position;
  const [back, forward] = position.kind === 'before' ? [order, reverse(order)] : [reverse(order), order];
  const behind = countBeyondSql(filter, back, { kind: 'beyond', orderKey, isKeyItself: true }, 1, bind);
  const beyond = countBeyondSql(filter, forward, { kind: 'beyond', orderKey }, size + 1, bind);
  return `${behind} as behind, ${beyond} as beyond`;
}

function toPage(
  { position, size }: PageQuery,
  { total, isBeyondKey, beyond, revision }: Head,
  records: PageRecords,
): Page {
  const hasMore = position.kind === 'offset' ? position.skip + records.count < total : beyond > size;
  return { records, total, isBeyondKey, hasMore, revision };
}
