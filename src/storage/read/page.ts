import { type FilterRange, rangeColumns, rankAfter, rankIn, toRange } from '../counts/range.ts';
import { openSelect, selectSql } from '../counts/select.ts';
import { leafRowsAimed } from '../counts/span.ts';
import type { ReadOptions, Row, SqlValue, Store, TenantId, TenantReader, TenantStatement } from '../store.ts';
import {
  type Bind,
  binder,
  countedFilter,
  type Path,
  type SubscriptionFilter,
  selectsOne,
} from '../subscription-filter.ts';
import {
  countBeyondSql,
  isByStatus,
  noRecords,
  type PagePosition,
  type PageQuery,
  type PageRecords,
  type PageStart,
  recordsQuery,
  reverse,
  type SubscriptionOrder,
} from './page-sql.ts';
import {
  alongPath,
  choosePath,
  countOfPlan,
  orderPath,
  type Paths,
  pathsOfPage,
  readPaths,
  readsProduct,
} from './path.ts';
import type { KnownRange, RangeMemory } from './range-memory.ts';

/** Records of one snapshot, and the range of all records of the filter. */
export interface Page extends FilterRange {
  readonly records: PageRecords;
  /** How many records of the filter precede the page, if that is known. */
  readonly passed: number | undefined;
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

export interface PageContext {
  readonly store: PageStore;
  readonly ranges?: RangeMemory;
}

/**
 * Reads up to `size` records from a position, in the requested order (for a `before` position, the
 * nearest ones before it), and the total. With a filter that the counts know in the order of the
 * page (`countedFilter`), a page costs at most two to three times as much as page 1. A page
 * takes one statement; on SQLite, more where the counts must find its first record.
 */
export async function readPage({ store, ranges }: PageContext, tenant: TenantId, query: PageQuery): Promise<Page> {
  const { filter, order } = query;
  if (isNarrow(filter)) {
    const narrow = { ...query, isBounded: true, filter: { ...filter, recordsMax: narrowRowsMax + 1 } };
    const page = await readWith(store, tenant, narrow, undefined);
    if (page.total <= narrowRowsMax) return page;
  }
  const bounded = { ...query, isBounded: isBounded(filter, order) };
  const known = ranges?.find(tenant, query);
  if (known !== undefined) {
    const page = await readWith(store, tenant, bounded, known);
    if (page.revision === known.revision) {
      ranges?.note(tenant, query, page, known);
      return page;
    }
  }
  const page = await readWith(store, tenant, bounded, undefined);
  ranges?.note(tenant, query, page, undefined);
  return page;
}

/** Up to this many records, stepping from the first one costs no more than stepping in a leaf. */
const nearStepsMax = leafRowsAimed / 2;

/** Whether a page begins at a key, or so near to the first record that it is reached by steps. */
const isNear = (position: PagePosition): boolean => position.kind !== 'offset' || position.skip <= nearStepsMax;

/**
 * Whether a page and its total cost about the same for any number of records: an index has the
 * filter's records in the requested order, and the counts have the total and the first record. A
 * page of a product's records with a rare status may read all index entries of the product.
 */
function isBounded(filter: SubscriptionFilter, order: SubscriptionOrder): boolean {
  return countedFilter(filter, order.column) !== undefined && isDirect(filter, order);
}

/**
 * Whether an index has exactly the records of a filter: in the order of the page, or as those of
 * one SIM, device or subscriber.
 */
function isDirect(filter: SubscriptionFilter, order: SubscriptionOrder): boolean {
  if (selectsOne(filter) || isByStatus(filter, order)) return true;
  const { statuses, autoRenew } = filter;
  return statuses === undefined && autoRenew === undefined && countedFilter(filter, order.column) !== undefined;
}

/** Up to this many records are read and sorted on the main thread, in about a millisecond. */
const narrowRowsMax = 500;

/**
 * Whether a filter selects one SIM, device or subscriber and nothing else, so that an index has
 * exactly its records.
 */
function isNarrow(filter: SubscriptionFilter): boolean {
  return selectsOne(filter) && Object.keys(filter).length === 2; // the other one is `dateColumn`
}

type BoundedQuery = PageQuery & ReadOptions;

/** Reads a page with a known range, or with the counts. The caller compares the revision. */
function readWith(
  store: PageStore,
  tenant: TenantId,
  query: BoundedQuery,
  known: KnownRange | undefined,
): Promise<Page> {
  const { filter, order, position } = query;
  if (!isDirect(filter, order)) return readAlong(store, tenant, query, known);
  if (position.kind !== 'offset')
    return readFrom(store, tenant, query, { kind: 'beyond', orderKey: position.orderKey }, known);
  const { skip } = position;
  const counted = countedFilter(filter, order.column);
  if (isNear(position) || counted === undefined) {
    const start: PageStart = skip === 0 ? { kind: 'first' } : { kind: 'step', steps: skip };
    return readFrom(store, tenant, query, start, known);
  }
  if (store.engine === 'sqlite') return readSelected(store, tenant, { ...query, filter: counted }, skip, known);
  const place = { skip, descending: order.descending };
  const leafSql = (bind: Bind): string => {
    const rank =
      known === undefined ? rankAfter(counted, place, bind) : `cast(${bind(rankIn(known, place))} as bigint)`;
    return selectSql(counted, rank, bind);
  };
  return readFrom(store, tenant, { ...query, filter: counted }, { kind: 'selected', leafSql }, known);
}

/**
 * Reads a page along the index that the counts show to be best. With a filter that they know in the
 * order of the page, they also have its first record, which may be far behind the first entry.
 */
function readAlong(
  store: PageStore,
  tenant: TenantId,
  query: BoundedQuery,
  known: KnownRange | undefined,
): Promise<Page> {
  const { filter, order, position, size } = query;
  const read = async (reader: TenantReader): Promise<Page> => {
    const counted = countedFilter(filter, order.column);
    const paths = counted === undefined ? await readPaths(reader, filter) : undefined;
    const path = orderPath(filter, order.column, paths);
    const choose = (of: Paths, order?: Path): SubscriptionFilter =>
      alongPath(filter, choosePath(of.widths, readsProduct(filter), order), of);
    const alongFor = (rows: number): SubscriptionFilter =>
      paths === undefined ? { ...(counted ?? filter), along: path } : choose(pathsOfPage(paths, path, rows), path);
    const total = paths === undefined || countedFilter(filter) !== undefined ? filter : choose(paths);
    const ofPlan = known === undefined && paths !== undefined ? await countOfPlan(reader, filter) : undefined;
    const found = known ?? (ofPlan === undefined ? undefined : { start: 0, total: ofPlan, revision: 0 });
    const head = headQuery({ ...query, filter: alongFor(size) }, found, total);
    const [row] = await reader.all(head.sql, head.values);
    const range = found ?? toRange(row);
    const nearer = counted === undefined ? fromLast(query, range.total) : undefined;
    const steps = nearer?.steps ?? (position.kind === 'offset' ? position.skip : 0);
    const asked = { ...query, filter: alongFor(size + steps) };
    const start = nearer ?? (await startAlong(reader, asked, range, counted));
    if (start === undefined) return toPage(query, row, noRecords, found);
    const body = bodyQuery(store, { ...asked, ...(nearer && { size: nearer.rows }) }, start);
    const [bodyRow] = await reader.all(body.sql, body.values);
    return toPage(query, row, body.toRecords(bodyRow), found);
  };
  return store.readTenant(tenant, read, query);
}

/** Where a page in the second half of `total` records begins in the reverse of its order. */
function fromLast(
  { position, size }: PageQuery,
  total: number,
): (PageStart & { kind: 'step'; rows: number }) | undefined {
  if (position.kind !== 'offset') return undefined;
  const rows = Math.min(size, total - position.skip);
  const steps = total - position.skip - rows;
  return rows > 0 && steps < position.skip ? { kind: 'step', steps, rows, isReversed: true } : undefined;
}

/** Where a page along a path begins; `undefined` past the last record. */
async function startAlong(
  reader: TenantReader,
  { filter, position, order }: PageQuery,
  range: FilterRange,
  counted: SubscriptionFilter | undefined,
): Promise<PageStart | undefined> {
  if (position.kind !== 'offset') return { kind: 'beyond', orderKey: position.orderKey };
  const { skip } = position;
  if (skip >= range.total) return undefined;
  if (counted === undefined) return { kind: 'step', steps: skip };
  const select = await openSelect(reader, filter);
  const leaf = await select(rankIn(range, { skip, descending: order.descending }));
  return leaf && { kind: 'leaf', leaf };
}

/** Reads a page, with everything about it, in one statement. */
async function readFrom(
  store: PageStore,
  tenant: TenantId,
  query: BoundedQuery,
  start: PageStart,
  known: KnownRange | undefined,
): Promise<Page> {
  const body = bodyQuery(store, query, start, (bind) => `${headColumns(query, known, bind)}${revisionColumn}`);
  const [[row] = []] = await store.readTenantOnce(tenant, [body], query);
  return toPage(query, row, body.toRecords(row), known);
}

/**
 * Reads a page whose first record the tree finds by its rank, in statements of their own: one
 * statement takes SQLite longer, a round trip to PostgreSQL costs more.
 */
function readSelected(
  store: PageStore,
  tenant: TenantId,
  query: BoundedQuery,
  skip: number,
  known: KnownRange | undefined,
): Promise<Page> {
  const { filter, order } = query;
  const read = async (reader: TenantReader): Promise<Page> => {
    const head = headQuery(query, known);
    const [[row], select] = await Promise.all([reader.all(head.sql, head.values), openSelect(reader, filter)]);
    const range = known ?? toRange(row);
    const rank = rankIn(range, { skip, descending: order.descending });
    const leaf = skip < range.total ? await select(rank) : undefined;
    if (leaf === undefined) return toPage(query, row, noRecords, known);
    const body = bodyQuery(store, query, { kind: 'leaf', leaf });
    const [bodyRow] = await reader.all(body.sql, body.values);
    return toPage(query, row, body.toRecords(bodyRow), known);
  };
  return store.readTenant(tenant, read, query);
}

const revisionColumn =
  '(select revision from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1) as revision';

/** The statement of the records, with other columns. */
function bodyQuery({ engine }: PageStore, query: PageQuery, start: PageStart, columns?: (bind: Bind) => string) {
  const { filter, order, position, size, layout } = query;
  const isReversed = position.kind === 'before' || (start.kind === 'step' && start.isReversed === true);
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

/** The statement of everything but the records; `total` is the filter as it is counted. */
function headQuery(query: PageQuery, known: KnownRange | undefined, total = query.filter): TenantStatement {
  const values: SqlValue[] = [];
  const sql = `select ${headColumns(query, known, binder(values), total)}revision
    from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1` as const;
  return { sql, values };
}

/** Everything but the records and the revision, as far as it is not known; each ends in a comma. */
function headColumns(
  { filter, order, position, size }: PageQuery,
  known: KnownRange | undefined,
  bind: Bind,
  total = filter,
): string {
  const range = known === undefined ? `${rangeColumns(total, bind)}, ` : '';
  if (position.kind === 'offset' || known?.passed !== undefined) return range;
  // how many records are behind the key of the page and beyond it, as far as that matters
  const { orderKey } = position;
  const [back, forward] = position.kind === 'before' ? [order, reverse(order)] : [reverse(order), order];
  const behind = countBeyondSql(filter, back, { kind: 'beyond', orderKey, isKeyItself: true }, 1, bind);
  const beyond = countBeyondSql(filter, forward, { kind: 'beyond', orderKey }, size + 1, bind);
  return `${range}${behind} as behind, ${beyond} as beyond, `;
}

function toPage(
  { position, size }: PageQuery,
  row: Row | undefined,
  records: PageRecords,
  known: KnownRange | undefined,
): Page {
  const { start, total } = known ?? toRange(row);
  const passed = position.kind === 'offset' ? position.skip : known?.passed;
  return {
    start,
    total,
    records,
    passed,
    isBeyondKey: position.kind !== 'offset' && (passed === undefined ? Number(row?.behind) > 0 : passed > 0),
    hasMore: passed === undefined ? Number(row?.beyond) > size : passed + records.count < total,
    revision: Number(row?.revision ?? 0),
  };
}
