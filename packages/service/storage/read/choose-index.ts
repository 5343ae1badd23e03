import { findProducts } from '../counts/intervals.ts';
import { rangeColumns, readRange, toRange } from '../counts/range.ts';
import type { SqlValue, TenantReader, TenantSql } from '../store.ts';
import {
  binder,
  boundsOf,
  countedFilter,
  type DateColumn,
  type RecordIndex,
  type Scan,
  type SubscriptionFilter,
  selectsOne,
  unindexedStatus,
} from '../subscription-filter.ts';

// Which index is read is decided here, by exact numbers from the counts, and not by the planner. A
// scan reads the entries of one index that a filter leaves (its selectivity), and drops those that
// do not match the rest of the filter.

/**
 * How many entries of each index a filter leaves, exactly; `all` is the number of the tenant's
 * records. An index that it does not narrow is absent.
 */
export type IndexEntries = Readonly<Partial<Record<RecordIndex, number>> & { all: number }>;

/**
 * Cost of reading and sorting an entry, as a multiple of reading one in order. A scan in the order
 * of the page usually ends after one page of records; any other is read to its end and sorted.
 */
const sortedEntries = 4;

/** Entries that cost as much as one whose record is read too: 15 with SQLite, 4 with PostgreSQL. */
const recordEntries = 10;

/** Whether an index has all columns that are read; only one has the product. */
export const covers = (index: RecordIndex, readsProduct: boolean): boolean => index === 'product_id' || !readsProduct;

/** The cost of a scan, in entries of an index that has all columns. */
export function scanCost(entries: IndexEntries, index: RecordIndex, readsProduct: boolean): number {
  return (entries[index] ?? entries.all) * (covers(index, readsProduct) ? 1 : recordEntries);
}

/**
 * Chooses the index that the rows of a filter are read in: the cheapest one, or that of `order` if
 * it costs at most `sortedEntries` times as much and has all columns, which saves sorting.
 */
export function chooseIndex(entries: IndexEntries, readsProduct: boolean, order?: RecordIndex): RecordIndex {
  const costOf = (index: RecordIndex): number => scanCost(entries, index, readsProduct);
  const selective = (['product_id', 'status', 'created_date', 'expiration_date', 'activation_date'] as const).filter(
    (index) => entries[index] !== undefined,
  );
  const cheapest = selective.reduce(
    (best, index) => (costOf(index) < costOf(best) ? index : best),
    order ?? 'created_date',
  );
  const isSorted =
    order !== undefined && covers(order, readsProduct) && costOf(order) <= sortedEntries * costOf(cheapest);
  return isSorted ? order : cheapest;
}

/** The index that has the records of a filter, or of a plan's products, in the order of a date. */
export const indexOfOrder = (
  { productId }: SubscriptionFilter,
  column: DateColumn,
  selectivity?: Selectivity,
): RecordIndex =>
  column === 'created_date' && (productId ?? selectivity?.products) !== undefined ? 'product_id' : column;

/** The parts of a filter that leave a part of an index, and that the counts know. */
function selectiveParts(filter: SubscriptionFilter): ReadonlyMap<RecordIndex, SubscriptionFilter> {
  const { productId, statuses } = filter;
  const parts = new Map<RecordIndex, SubscriptionFilter>();
  for (const bounds of boundsOf(filter)) parts.set(bounds.dateColumn, bounds);
  const created = parts.get('created_date') ?? { dateColumn: 'created_date' };
  if (productId !== undefined) parts.set('product_id', { ...created, productId });
  if (statuses !== undefined && !statuses.includes(unindexedStatus)) parts.set('status', { ...created, statuses });
  return parts;
}

/** The entries that a filter leaves, and the products whose entries these are if it names none. */
export interface Selectivity {
  readonly entries: IndexEntries;
  readonly products?: readonly string[];
  /** The plan of each product that has only one. */
  readonly plans?: ReadonlyMap<string, string | null>;
}

/** Maximum products whose ranges one query reads. */
const productsMax = 100;

/**
 * Reads the selectivity of a filter from the stored counts: in one statement, and another one
 * for the products of a plan, or for all products if the rows are counted by product.
 */
export async function readSelectivity(
  reader: TenantReader,
  filter: SubscriptionFilter,
  byProduct = false,
): Promise<Selectivity> {
  const { productId, planId } = filter;
  const wantsProducts = productId === undefined && (planId !== undefined || byProduct);
  const [entries, found] = await Promise.all([
    readEntries(reader, filter),
    wantsProducts ? findProducts(reader, planId) : undefined,
  ]);
  if (found === undefined || found.products.length > productsMax) return { entries };
  const { n, products, plans } = found;
  return { entries: { ...entries, product_id: n }, products, plans };
}

async function readEntries(reader: TenantReader, filter: SubscriptionFilter): Promise<IndexEntries> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const parts = [...selectiveParts(filter), ['all', { dateColumn: 'created_date' }] as const];
  const columns = parts.map(([name, part]) => rangeColumns(part, bind, name));
  // every column compares `tenant_id`
  const [row] = await reader.all(`select ${columns.join(', ')}` as TenantSql, values);
  const entries: Record<string, number> = Object.fromEntries(parts.map(([name]) => [name, toRange(row, name).total]));
  return { ...entries, all: entries.all ?? 0 };
}

/**
 * Filters that the counts know and that together select each record of a filter once: the filter
 * itself, or one for each product of a plan, as long as each of these has one plan. `undefined` if
 * there are none.
 */
export async function countedParts(
  reader: TenantReader,
  filter: SubscriptionFilter,
): Promise<readonly SubscriptionFilter[] | undefined> {
  const counted = countedFilter(filter);
  if (counted !== undefined) return [counted];
  const { planId, ...others } = filter;
  if (planId === undefined || countedFilter({ ...others, productId: '' }) === undefined) return undefined;
  const { products, areWhole } = await findProducts(reader, planId);
  if (!areWhole) return undefined;
  return products
    .filter((productId) => others.productId === undefined || productId === others.productId)
    .map((productId) => ({ ...others, productId, dateColumn: 'created_date' }));
}

/** The records of a filter with a plan, if the trees of its products count them. */
export async function countOfPlan(reader: TenantReader, filter: SubscriptionFilter): Promise<number | undefined> {
  const parts = filter.planId === undefined ? undefined : await countedParts(reader, filter);
  const ranges = parts && (await Promise.all(parts.map((part) => readRange(reader, part))));
  return ranges?.reduce((sum, { total }) => sum + total, 0);
}

/** Whether a filter, or counting by some columns, reads the product of each row. */
export const readsProduct = ({ productId }: SubscriptionFilter, columns: readonly string[] = []): boolean =>
  productId !== undefined || columns.includes('product_id');

/** The scan of a filter in an index. */
export const scanOf = (filter: SubscriptionFilter, index: RecordIndex, { products }: Selectivity): Scan => ({
  ...filter,
  index,
  ...(index === 'product_id' && products !== undefined && { indexProducts: products }),
});

/** The filter with the index that its rows are counted in, if they are counted one by one. */
export async function cheapestScan(reader: TenantReader, filter: SubscriptionFilter): Promise<Scan> {
  if (selectsOne(filter) || countedFilter(filter) !== undefined) return filter;
  const selectivity = await readSelectivity(reader, filter);
  return scanOf(filter, chooseIndex(selectivity.entries, readsProduct(filter)), selectivity);
}

/**
 * The ranges of an index that the rows of a filter are in, each in the order of its date: one for
 * each product or status.
 */
export function scanRanges(filter: SubscriptionFilter, index: RecordIndex, { products }: Selectivity): Scan[] {
  const asked = { ...filter, index };
  if (index === 'product_id' && products !== undefined) return products.map((productId) => ({ ...asked, productId }));
  if (index === 'status' && filter.statuses !== undefined)
    return [...new Set(filter.statuses)].map((status) => ({ ...asked, statuses: [status] }));
  return [asked];
}

/**
 * The indexes for a page that ends after `rows` records of the order: without the index of a plan's
 * products if reading in order ends sooner. The plan has `n` of `all` records. Spread evenly, the
 * first `rows` of them are among `rows * all / n` entries of the order. The other index has `n`
 * entries, all of which are read and sorted.
 */
export function selectivityOfPage(selectivity: Selectivity, order: RecordIndex, rows: number): Selectivity {
  const { product_id: n = 0, ...others } = selectivity.entries;
  const inOrder = (rows * others.all) / n;
  const endsSooner = order !== 'product_id' && inOrder <= sortedEntries * n;
  return selectivity.products !== undefined && endsSooner ? { entries: others } : selectivity;
}
