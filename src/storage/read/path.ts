import { findProducts } from '../counts/intervals.ts';
import { rangeColumns, readRange, toRange } from '../counts/range.ts';
import type { SqlValue, TenantReader, TenantSql } from '../store.ts';
import {
  binder,
  boundsOf,
  countedFilter,
  type DateColumn,
  type Path,
  type SubscriptionFilter,
  selectsOne,
  unindexedStatus,
} from '../subscription-filter.ts';

/**
 * How many entries of each index a filter leaves, exactly; `all` is the number of the tenant's
 * records. A path that the filter does not narrow is absent.
 */
export type Widths = Readonly<Partial<Record<Path, number>> & { all: number }>;

/**
 * How many times as many entries the index of the requested order may have as the narrowest one.
 * Reading along the order usually ends after one page of records. The narrowest index is always
 * read to its end, and its entries are sorted.
 */
const sortedEntries = 4;

/** Entries that cost as much as one whose record is read too: 15 with SQLite, 4 with PostgreSQL. */
const recordEntries = 10;

/** Whether the index of a path has all columns that are read; only one has the product. */
export const covers = (path: Path, readsProduct: boolean): boolean => path === 'product_id' || !readsProduct;

/** What the rows of a path cost, in entries of an index that has all columns. */
export function pathCost(widths: Widths, path: Path, readsProduct: boolean): number {
  return (widths[path] ?? widths.all) * (covers(path, readsProduct) ? 1 : recordEntries);
}

/**
 * Chooses the index that the rows of a filter are read in: the cheapest one, or that of `order` if
 * it costs at most `sortedEntries` times as much and has all columns, which saves sorting.
 */
export function choosePath(widths: Widths, readsProduct: boolean, order?: Path): Path {
  const costOf = (path: Path): number => pathCost(widths, path, readsProduct);
  const paths = (['product_id', 'status', 'created_date', 'expiration_date', 'activation_date'] as const).filter(
    (path) => widths[path] !== undefined,
  );
  const cheapest = paths.reduce((best, path) => (costOf(path) < costOf(best) ? path : best), order ?? 'created_date');
  const isSorted =
    order !== undefined && covers(order, readsProduct) && costOf(order) <= sortedEntries * costOf(cheapest);
  return isSorted ? order : cheapest;
}

/** The index that has the records of a filter, or of a plan's products, in the order of a date. */
export const orderPath = ({ productId }: SubscriptionFilter, column: DateColumn, paths?: Paths): Path =>
  column === 'created_date' && (productId ?? paths?.products) !== undefined ? 'product_id' : column;

/** The parts of a filter that narrow an index and that the counts know. */
function narrowingParts(filter: SubscriptionFilter): ReadonlyMap<Path, SubscriptionFilter> {
  const { productId, statuses } = filter;
  const parts = new Map<Path, SubscriptionFilter>();
  for (const bounds of boundsOf(filter)) parts.set(bounds.dateColumn, bounds);
  const created = parts.get('created_date') ?? { dateColumn: 'created_date' };
  if (productId !== undefined) parts.set('product_id', { ...created, productId });
  if (statuses !== undefined && !statuses.includes(unindexedStatus)) parts.set('status', { ...created, statuses });
  return parts;
}

/** The widths of a filter's paths, and the products of that of `product_id` if it names none. */
export interface Paths {
  readonly widths: Widths;
  readonly products?: readonly string[];
  /** The plan of each product that has only one. */
  readonly plans?: ReadonlyMap<string, string | null>;
}

/** Maximum products whose ranges one query reads. */
const productsMax = 100;

/**
 * Reads the widths of a filter's paths from the stored counts: in one statement, and another one
 * for the products of a plan, or for all products if the rows are counted by product.
 */
export async function readPaths(reader: TenantReader, filter: SubscriptionFilter, byProduct = false): Promise<Paths> {
  const { productId, planId } = filter;
  const wantsProducts = productId === undefined && (planId !== undefined || byProduct);
  const [widths, found] = await Promise.all([
    readWidths(reader, filter),
    wantsProducts ? findProducts(reader, planId) : undefined,
  ]);
  if (found === undefined || found.products.length > productsMax) return { widths };
  const { n, products, plans } = found;
  return { widths: { ...widths, product_id: n }, products, plans };
}

async function readWidths(reader: TenantReader, filter: SubscriptionFilter): Promise<Widths> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const parts = [...narrowingParts(filter), ['all', { dateColumn: 'created_date' }] as const];
  const columns = parts.map(([name, part]) => rangeColumns(part, bind, name));
  // every column compares `tenant_id`
  const [row] = await reader.all(`select ${columns.join(', ')}` as TenantSql, values);
  return Object.fromEntries(parts.map(([name]) => [name, toRange(row, name).total])) as unknown as Widths;
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

/** The filter whose rows are read along a path. */
export const alongPath = (filter: SubscriptionFilter, along: Path, { products }: Paths): SubscriptionFilter => ({
  ...filter,
  along,
  ...(along === 'product_id' && products !== undefined && { productsAlong: products }),
});

/** The filter with the index that its rows are counted in, if they are counted one by one. */
export async function narrowest(reader: TenantReader, filter: SubscriptionFilter): Promise<SubscriptionFilter> {
  if (selectsOne(filter) || countedFilter(filter) !== undefined) return filter;
  const paths = await readPaths(reader, filter);
  return alongPath(filter, choosePath(paths.widths, readsProduct(filter)), paths);
}

/**
 * The ranges of an index that the rows of a filter along a path are in, each in the order of the
 * path: one for each product or status.
 */
export function rangesAlong(filter: SubscriptionFilter, along: Path, { products }: Paths): SubscriptionFilter[] {
  const asked = { ...filter, along };
  if (along === 'product_id' && products !== undefined) return products.map((productId) => ({ ...asked, productId }));
  if (along === 'status' && filter.statuses !== undefined)
    return [...new Set(filter.statuses)].map((status) => ({ ...asked, statuses: [status] }));
  return [asked];
}

/**
 * The paths of a page that ends after `rows` rows: without the products of a plan if reading along
 * another order is expected to end before these would be read and sorted.
 */
export function pathsOfPage(paths: Paths, order: Path, rows: number): Paths {
  const { product_id: n = 0, ...others } = paths.widths;
  const isNear = order !== 'product_id' && rows * others.all <= sortedEntries * n * n;
  return paths.products !== undefined && isNear ? { widths: others } : paths;
}
