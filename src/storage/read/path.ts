import { rangeColumns, toRange } from '../counts/range.ts';
import type { SqlValue, TenantReader, TenantSql } from '../store.ts';
import {
  binder,
  boundsOf,
  countedFilter,
  type DateColumn,
  dateOfPath,
  type Path,
  type SubscriptionFilter,
  selectsOne,
} from '../subscription-filter.ts';

/**
 * How many entries of each index the bounds and the product of a filter leave, exactly; `all` is
 * the number of the tenant's records. A path without a bound is absent.
 */
export type Widths = Readonly<Partial<Record<Path, number>> & { all: number }>;

/**
 * How many times as many entries the index of the requested order may have as the narrowest one.
 * Reading along the order usually ends after one page of records. The narrowest index is always
 * read to its end, and its entries are sorted.
 */
const sortedEntries = 4;

/**
 * Chooses the index that the rows of a filter are read in: the narrowest one, or that of `order` if
 * its entries are at most `sortedEntries` times as many, which saves sorting.
 */
export function choosePath(widths: Widths, order?: Path): Path {
  const paths = (['product_id', 'created_date', 'expiration_date', 'activation_date'] as const).filter(
    (path) => widths[path] !== undefined,
  );
  const widthOf = (path: Path): number => widths[path] ?? widths.all;
  const narrowest = paths.reduce(
    (best, path) => (widthOf(path) < widthOf(best) ? path : best),
    order ?? 'created_date',
  );
  if (order === undefined || widthOf(order) > sortedEntries * widthOf(narrowest)) return narrowest;
  return order;
}

/** The index that has the records of a filter in the order of a date. */
export const orderPath = ({ productId }: SubscriptionFilter, column: DateColumn): Path =>
  productId !== undefined && column === 'created_date' ? 'product_id' : column;

/** The parts of a filter that bound an index. */
function boundingParts(filter: SubscriptionFilter): ReadonlyMap<Path, SubscriptionFilter> {
  const { productId } = filter;
  const parts = new Map<Path, SubscriptionFilter>();
  for (const bounds of boundsOf(filter)) parts.set(bounds.dateColumn, bounds);
  const created = parts.get('created_date') ?? { dateColumn: 'created_date' };
  if (productId !== undefined) parts.set('product_id', { ...created, productId });
  return parts;
}

/** Reads the widths of a filter's paths from the stored counts, in one statement. */
export async function readWidths(reader: TenantReader, filter: SubscriptionFilter): Promise<Widths> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const parts = [...boundingParts(filter), ['all', { dateColumn: 'created_date' }] as const];
  const columns = parts.map(([name, part]) => rangeColumns(part, bind, name));
  // every column compares `tenant_id`
  const [row] = await reader.all(`select ${columns.join(', ')}` as TenantSql, values);
  return Object.fromEntries(parts.map(([name]) => [name, toRange(row, name).total])) as unknown as Widths;
}

/** The filter with the index that its rows are counted in, if they are counted one by one. */
export async function narrowest(reader: TenantReader, filter: SubscriptionFilter): Promise<SubscriptionFilter> {
  if (selectsOne(filter) || countedFilter(filter) !== undefined) return filter;
  return { ...filter, along: choosePath(await readWidths(reader, filter)) };
}

/**
 * Whether the index of a path has all columns that a filter compares, and others: the product is in
 * its own index alone.
 */
export const covers = (path: Path, { productId }: SubscriptionFilter, columns: readonly string[]): boolean =>
  path === 'product_id' || (productId === undefined && !columns.includes('product_id'));

/** The columns that order the entries of a path. */
export const keyOfPath = (path: Path): readonly string[] => [dateOfPath(path), 'id'];
