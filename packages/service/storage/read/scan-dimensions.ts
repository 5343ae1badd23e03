import { seriesOfFilter, spanLevel } from '../counts/span.ts';
import { endOrderKey, firstOrderKey } from '../order-key.ts';
import type { Row, SqlValue, TenantReader, TenantSql } from '../store.ts';
import {
  and,
  binder,
  boundsOf,
  type DateColumn,
  dateOfIndex,
  filterConditions,
  type RecordIndex,
  rowsFrom,
  type SubscriptionFilter,
  selectsOne,
} from '../subscription-filter.ts';
import { chooseIndex, covers, readSelectivity, readsProduct, scanCost, scanRanges } from './choose-index.ts';

/** A column that a summary counts by, or the day of a date. */
export type Dimension = 'status' | 'product_id' | 'plan_id' | 'auto_renew' | 'day';

/** Rows of a filter to count by some columns; `day` is the first date of its day. */
export interface DimensionScan {
  readonly filter: SubscriptionFilter;
  readonly columns: readonly Dimension[];
  readonly dateColumn: DateColumn;
  /** SQL of the number of a date's day (`dayNumber`), to count by `day`. */
  readonly days?: string;
}

/** Entries that are counted in the index of products at the cost of one that is grouped. */
const countedEntries = 3;

/**
 * Counts rows by reading them all, in steps of an index. Yields rows of the columns with a count
 * `n`; the same values occur once for each step that has them. Nothing is grouped where rows are
 * counted by product, or by plan and each product has one.
 */
export async function* scanDimensions(reader: TenantReader, scan: DimensionScan): AsyncGenerator<Row> {
  if (selectsOne(scan.filter)) return yield* await countFound(reader, scan);
  const { filter, columns } = scan;
  const isByProduct = columns.every((column) => column === 'product_id' || column === 'plan_id');
  const selectivity = await readSelectivity(reader, filter, isByProduct || columns.includes('product_id'));
  const { entries, plans, products } = selectivity;
  const grouped = chooseIndex(entries, readsProduct(filter, columns));
  const isCounted =
    isByProduct &&
    products?.every((product) => plans?.has(product)) === true &&
    (entries.product_id ?? entries.all) <= countedEntries * scanCost(entries, grouped, readsProduct(filter, columns));
  const index = isCounted ? 'product_id' : grouped;
  for (const range of scanRanges(filter, index, selectivity)) {
    const product = isCounted ? range.productId : undefined;
    const constant = product === undefined ? undefined : { product_id: product, plan_id: plans?.get(product) ?? null };
    for (const step of await scanSteps(reader, range, index))
      for (const row of await countStep(reader, { ...scan, filter: step }, index, constant !== undefined))
        yield { ...row, ...constant };
  }
}

/**
 * A range of an index in steps of some 30,000 entries, all within a second together: the groups of
 * the tree of its date, and for statuses those of all records.
 */
async function scanSteps(
  reader: TenantReader,
  filter: SubscriptionFilter,
  index: RecordIndex,
): Promise<readonly SubscriptionFilter[]> {
  const dateColumn = dateOfIndex(index);
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
    ...(index === 'product_id' && others.productId !== undefined && { productId: others.productId }),
  };
  const rows = await reader.all(
    `select distinct from_date from subscription_span where tenant_id = $1 and series = $2 and level = ${spanLevel.group}
      and from_date > $3 and from_date < $4 order by from_date`,
    [seriesOfFilter(tree), own.afterSeconds ?? firstOrderKey.date, own.beforeSeconds ?? endOrderKey.date],
  );
  const edges = rows.map(({ from_date }) => Number(from_date));
  return [undefined, ...edges].map((edge, at) => {
    const afterSeconds = edge === undefined ? own.afterSeconds : edge - 1;
    const beforeSeconds = edges[at] ?? own.beforeSeconds;
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
  scan: DimensionScan,
  index: RecordIndex,
  isTogether: boolean,
): Promise<readonly Row[]> {
  const { filter, columns, dateColumn } = scan;
  const values: SqlValue[] = [];
  const bind = binder(values);
  const [selected, groups] = [selectedOf(scan), groupsOf(scan)];
  const entries = `from subscription where tenant_id = $1${and(filterConditions({ ...filter, index }, bind))}` as const;
  if (isTogether) return reader.all(`select count(*) as n ${entries}`, values);
  if (covers(index, readsProduct(filter, columns)))
    return reader.all(`select ${selected}, count(*) as n ${entries} group by ${groups}`, values);
  const read = columns.map((column) => (column === 'day' ? dateColumn : column)).join(', ');
  return reader.all(
    `select ${selected}, count(*) as n from (select ${read} ${entries}
      order by ${dateOfIndex(index)}, id limit ${bind(Number.MAX_SAFE_INTEGER)}) as step group by ${groups}`,
    values,
  );
}

const selectedOf = ({ columns, dateColumn }: DimensionScan): string =>
  columns.map((column) => (column === 'day' ? `min(${dateColumn}) as day` : column)).join(', ');

const groupsOf = ({ columns, days }: DimensionScan): string =>
  columns.map((column) => (column === 'day' ? days : column)).join(', ');

/** Counts the rows of one SIM, device or subscriber by the columns, in one statement. */
function countFound(reader: TenantReader, scan: DimensionScan): Promise<readonly Row[]> {
  const values: SqlValue[] = [];
  const rows = rowsFrom(scan.filter, `status, product_id, plan_id, auto_renew, ${scan.dateColumn}`, binder(values));
  const sql = `select ${selectedOf(scan)}, count(*) as n ${rows} group by ${groupsOf(scan)}`;
  return reader.all(sql as TenantSql, values);
}
