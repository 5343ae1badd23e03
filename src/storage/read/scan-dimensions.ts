import { seriesOfFilter, spanLevel } from '../counts/span.ts';
import { endOrderKey, firstOrderKey } from '../order-key.ts';
import type { Row, SqlValue, TenantReader, TenantSql } from '../store.ts';
import {
  and,
  binder,
  boundsOf,
  type DateColumn,
  dateOfPath,
  dayOf,
  filterConditions,
  type Path,
  rowsFrom,
  type SubscriptionFilter,
  selectsOne,
} from '../subscription-filter.ts';
import { choosePath, covers, pathCost, rangesAlong, readPaths, readsProduct } from './path.ts';

/** A column that a summary counts by, or the day of a date. */
export type Dimension = 'status' | 'product_id' | 'plan_id' | 'auto_renew' | 'day';

/**
 * Rows of a filter to count by some columns; `day` is the first second of the day of `dateColumn`.
 */
export interface DimensionScan {
  readonly filter: SubscriptionFilter;
  readonly columns: readonly Dimension[];
  readonly dateColumn: DateColumn;
}

/** Entries that are counted in the index of products at the cost of one that is grouped. */
const countedEntries = 3;

/**
 * Counts rows by reading them all, in steps along an index. Yields rows of the columns with a count
 * `n`; the same values occur once for each step that has them. Nothing is grouped where rows are
 * counted by product, or by plan and each product has one.
 */
export async function* scanDimensions(reader: TenantReader, scan: DimensionScan): AsyncGenerator<Row> {
  if (selectsOne(scan.filter)) return yield* await countFound(reader, scan);
  const { filter, columns } = scan;
  const isByProduct = columns.every((column) => column === 'product_id' || column === 'plan_id');
  const paths = await readPaths(reader, filter, isByProduct || columns.includes('product_id'));
  const { widths, plans, products } = paths;
  const grouped = choosePath(widths, readsProduct(filter, columns));
  const isCounted =
    isByProduct &&
    products?.every((product) => plans?.has(product)) === true &&
    (widths.product_id ?? widths.all) <= countedEntries * pathCost(widths, grouped, readsProduct(filter, columns));
  const along = isCounted ? 'product_id' : grouped;
  for (const range of rangesAlong(filter, along, paths)) {
    const product = isCounted ? range.productId : undefined;
    const constant = product === undefined ? undefined : { product_id: product, plan_id: plans?.get(product) ?? null };
    for (const step of await stepsAlong(reader, range, along))
      for (const row of await countStep(reader, { ...scan, filter: step }, along, constant !== undefined))
        yield { ...row, ...constant };
  }
}

/**
 * A range of a path in steps of some 30,000 entries, all within a second together: the groups of
 * the path's tree, and for statuses those of all records.
 */
async function stepsAlong(
  reader: TenantReader,
  filter: SubscriptionFilter,
  along: Path,
): Promise<readonly SubscriptionFilter[]> {
  const dateColumn = dateOfPath(along);
  const {
    dateColumn: _column,
    afterSeconds: _after,
    beforeSeconds: _before,
    furtherBounds: _further,
    ...others
  } = filter;
  const bounds = boundsOf(filter);
  const own = bounds.find((each) => each.dateColumn === dateColumn) ?? { dateColumn };
  const furtherBounds = bounds.filter((each) => each !== own);
  const tree = {
    dateColumn,
    ...(along === 'product_id' && others.productId !== undefined && { productId: others.productId }),
  };
  const rows = await reader.all(
    `select distinct from_date from subscription_span where tenant_id = $1 and series = $2 and level = ${spanLevel.group}
      and from_date > $3 and from_date < $4 order by from_date`,
    [seriesOfFilter(tree), own.afterSeconds ?? firstOrderKey.date, own.beforeSeconds ?? endOrderKey.date],
  );
  const edges = rows.map(({ from_date }) => Number(from_date));
  return [undefined, ...edges].map((edge, index) => {
    const afterSeconds = edge === undefined ? own.afterSeconds : edge - 1;
    const beforeSeconds = edges[index] ?? own.beforeSeconds;
    return {
      ...others,
      dateColumn,
      ...(afterSeconds !== undefined && { afterSeconds }),
      ...(beforeSeconds !== undefined && { beforeSeconds }),
      furtherBounds,
    };
  });
}

/**
 * Counts the rows of one step by the columns, or together. Without a covering index, the rows are
 * selected first, in the order of the index and with a limit: otherwise SQLite scans the tenant's
 * whole index of a counted column to get its values in order.
 */
function countStep(
  reader: TenantReader,
  { filter, columns, dateColumn }: DimensionScan,
  along: Path,
  isTogether: boolean,
): Promise<readonly Row[]> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const selected = selectedOf(columns, dateColumn);
  const groups = columns.join(', ');
  const entries = `from subscription where tenant_id = $1${and(filterConditions({ ...filter, along }, bind))}` as const;
  if (isTogether) return reader.all(`select count(*) as n ${entries}`, values);
  if (covers(along, readsProduct(filter, columns)))
    return reader.all(`select ${selected}, count(*) as n ${entries} group by ${groups}`, values);
  return reader.all(
    `select ${groups}, count(*) as n from (select ${selected} ${entries}
      order by ${dateOfPath(along)}, id limit ${bind(Number.MAX_SAFE_INTEGER)}) as step group by ${groups}`,
    values,
  );
}

const selectedOf = (columns: readonly Dimension[], dateColumn: DateColumn): string =>
  columns.map((column) => (column === 'day' ? `${dayOf(dateColumn)} as day` : column)).join(', ');

/** Counts the rows of one SIM, device or subscriber by the columns, in one statement. */
function countFound(reader: TenantReader, { filter, columns, dateColumn }: DimensionScan): Promise<readonly Row[]> {
  const values: SqlValue[] = [];
  const rows = rowsFrom(filter, `status, product_id, plan_id, auto_renew, ${dateColumn}`, binder(values));
  const groups = columns.join(', ');
  const sql = `select ${selectedOf(columns, dateColumn)}, count(*) as n ${rows} group by ${groups}`;
  return reader.all(sql as TenantSql, values);
}
