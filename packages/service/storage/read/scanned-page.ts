import { type FilterRange, rankIn, toRange } from '../counts/range.ts';
import { selectSql } from '../counts/select.ts';
import type { TenantId, TenantReader } from '../store.ts';
import { countedFilter, type RecordIndex, type Scan, type SubscriptionFilter } from '../subscription-filter.ts';
import {
  chooseIndex,
  countOfPlan,
  indexOfOrder,
  readSelectivity,
  readsProduct,
  type Selectivity,
  scanOf,
  selectivityOfPage,
} from './choose-index.ts';
import { noRecords, type PageQuery, type PageStart } from './page-sql.ts';
import {
  type BoundedQuery,
  bodyQuery,
  headQuery,
  type Known,
  type Page,
  type PageStore,
  toPage,
} from './page-statements.ts';

/**
 * Reads a page of a filter that no index has by itself: some entries of the index that is read do
 * not match. The steps:
 *
 * 1. choose the indexes (`indexesOf`): one for the total, one for the records;
 * 2. read the head, with the total unless it is known or the counts of a plan's products have it;
 * 3. find where the page begins: at a key, at the record of a rank if the counts know the filter in
 *    the order of the page, or after steps from the nearer end of the order;
 * 4. read the body from there.
 */
export function readScanned(
  store: PageStore,
  tenant: TenantId,
  query: BoundedQuery,
  known: Known | undefined,
): Promise<Page> {
  const { filter, order, size } = query;
  const read = async (reader: TenantReader): Promise<Page> => {
    const counted = countedFilter(filter, order.column);
    const indexes = await indexesOf(reader, query);
    const found = known ?? (await rangeOfPlan(reader, filter, counted));
    const head = headQuery({ ...query, filter: indexes.ofPage(size) }, found, indexes.ofTotal);
    const [row] = await reader.all(head.sql, head.values);
    const range = found?.range ?? toRange(row);
    const fromEnd = counted === undefined ? stepsFromEnd(query, range.total) : undefined;
    const scanned = { ...query, filter: indexes.ofPage(size + (fromEnd ?? stepsOf(query)).steps) };
    const start = fromEnd ?? startOf(scanned, range, counted);
    if (start === undefined) return toPage(query, row, noRecords, found);
    const body = bodyQuery(store, fromEnd === undefined ? scanned : { ...scanned, size: fromEnd.rows }, start);
    const [bodyRow] = await reader.all(body.sql, body.values);
    return toPage(query, row, body.toRecords(bodyRow), found);
  };
  return store.readTenant(tenant, read, query);
}

/** The filter with the index that is read, for the total and for the records. */
interface ScannedIndexes {
  readonly ofTotal: Scan;
  /** For a page that ends after this many records of the order. */
  readonly ofPage: (records: number) => Scan;
}

/** Chooses the indexes by the numbers of entries that the counts have of each. */
async function indexesOf(reader: TenantReader, { filter, order }: PageQuery): Promise<ScannedIndexes> {
  const counted = countedFilter(filter, order.column);
  if (counted !== undefined) {
    const ofOrder = { ...counted, index: indexOfOrder(filter, order.column) };
    return { ofTotal: filter, ofPage: () => ofOrder };
  }
  const selectivity = await readSelectivity(reader, filter);
  const inOrder = indexOfOrder(filter, order.column, selectivity);
  const choose = (of: Selectivity, wanted?: RecordIndex): Scan =>
    scanOf(filter, chooseIndex(of.entries, readsProduct(filter), wanted), of);
  return {
    ofTotal: countedFilter(filter) === undefined ? choose(selectivity) : filter,
    ofPage: (records) => choose(selectivityOfPage(selectivity, inOrder, records), inOrder),
  };
}

/** The range of a filter with a plan, if the counts of the plan's products have its total. */
async function rangeOfPlan(
  reader: TenantReader,
  filter: SubscriptionFilter,
  counted: SubscriptionFilter | undefined,
): Promise<Known | undefined> {
  const total = counted === undefined ? await countOfPlan(reader, filter) : undefined;
  return total === undefined ? undefined : { revision: 0, range: { start: 0, total } };
}

const stepsOf = ({ position }: PageQuery) => ({ steps: position.kind === 'offset' ? position.skip : 0 });

/** Where a page in the second half of `total` records begins in the reverse of its order. */
function stepsFromEnd(
  { position, size }: PageQuery,
  total: number,
): (PageStart & { kind: 'step'; rows: number }) | undefined {
  if (position.kind !== 'offset') return undefined;
  const rows = Math.min(size, total - position.skip);
  const steps = total - position.skip - rows;
  return rows > 0 && steps < position.skip ? { kind: 'step', steps, rows, isReversed: true } : undefined;
}

/** Where another page begins; `undefined` past the last record. */
function startOf(
  { filter, position, order }: PageQuery,
  range: FilterRange,
  counted: SubscriptionFilter | undefined,
): PageStart | undefined {
  if (position.kind !== 'offset') return { kind: 'beyond', orderKey: position.orderKey };
  const { skip } = position;
  if (skip >= range.total) return undefined;
  if (counted === undefined) return { kind: 'step', steps: skip };
  const rank = rankIn(range, { skip, descending: order.descending });
  return { kind: 'selected', leafSql: (bind) => selectSql(filter, `cast(${bind(rank)} as bigint)`, bind) };
}
