import { setImmediate } from 'node:timers/promises';
import type { Row, SqlValue, TenantReader, TenantSql } from '../store.ts';
import {
  and,
  type Bind,
  binder,
  boundsOf,
  type DateBounds,
  type DateColumn,
  dateOfPath,
  dayOf,
  filterConditions,
  type Path,
  rowsFrom,
  type SubscriptionFilter,
  selectsOne,
} from '../subscription-filter.ts';
import { choosePath, covers, keyOfPath, rangesAlong, readPaths, readsProduct } from './path.ts';

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

/** A range of an index: the conditions on its first columns, and the columns that order it. */
interface IndexRange {
  readonly within: SubscriptionFilter;
  readonly key: readonly string[];
  /** Entries of the index for one statement. */
  readonly stepRows: number;
  /** Whether the index has all columns that are read. */
  readonly covered: boolean;
}

/** Rows of a step: some milliseconds of work, and other requests on SQLite wait for no longer. */
const stepRows = 4_000;
const coveredStepRows = 30_000;

/**
 * Counts rows by reading them all, in steps along an index. Yields rows of the columns with a count
 * `n`; the same values occur once for each step that has them.
 */
export async function* scanDimensions(reader: TenantReader, scan: DimensionScan): AsyncGenerator<Row> {
  if (selectsOne(scan.filter)) return yield* await countFound(reader, scan);
  const { filter, columns } = scan;
  const paths = await readPaths(reader, filter, columns.includes('product_id'));
  const along = choosePath(paths.widths, readsProduct(filter, columns));
  for (const ranged of rangesAlong(filter, along, paths)) yield* scanRange(reader, { ...scan, filter: ranged }, along);
}

async function* scanRange(reader: TenantReader, asked: DimensionScan, along: Path): AsyncGenerator<Row> {
  const range = indexRange(along, asked);
  for (let after: readonly SqlValue[] | undefined; ; ) {
    const until = await readStep(reader, range, after);
    yield* await countStep(reader, asked, range, after, until);
    if (until === undefined) break;
    after = until;
    await setImmediate(); // SQLite's statements block the event loop
  }
}

/** The entries of a path within the bounds of its date, and of its product or status. */
function indexRange(along: Path, { filter, columns }: DimensionScan): IndexRange {
  const dateColumn = dateOfPath(along);
  const bounds = boundsOf(filter).find((each) => each.dateColumn === dateColumn) ?? { dateColumn };
  const { productId, statuses } = filter;
  const covered = covers(along, readsProduct(filter, columns));
  return {
    within: {
      ...bounds,
      along,
      ...(along === 'product_id' && productId !== undefined && { productId }),
      ...(along === 'status' && statuses !== undefined && { statuses }),
    },
    key: keyOfPath(along),
    stepRows: covered ? coveredStepRows : stepRows,
    covered,
  };
}

/** The last key of the next step; `undefined` if fewer entries are left. */
async function readStep(
  reader: TenantReader,
  { within, key, stepRows }: IndexRange,
  after: readonly SqlValue[] | undefined,
): Promise<readonly SqlValue[] | undefined> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const open = withoutReplacedBounds(within, key, after, undefined);
  const conditions = [...filterConditions(open, bind), ...keyConditions(key, after, undefined, bind)];
  const columns = key.join(', ');
  const [row] = await reader.all(
    `select ${columns} from subscription where tenant_id = $1${and(conditions)} order by ${columns} limit 1 offset ${bind(stepRows - 1)}`,
    values,
  );
  return row === undefined ? undefined : key.map((column) => numberOrText(column, row[column] ?? null));
}

/** PostgreSQL returns a `bigint` as a string; only dates are numbers here. */
const numberOrText = (column: string, value: SqlValue): SqlValue => (column.endsWith('_date') ? Number(value) : value);

/**
 * Counts the rows of one step by the columns. Without a covering index, the rows are selected
 * first, in the order of the index and with a limit: otherwise SQLite scans the tenant's whole
 * index of a counted column to get its values in order.
 */
function countStep(
  reader: TenantReader,
  { filter, columns, dateColumn }: DimensionScan,
  { key, stepRows, covered }: IndexRange,
  after: readonly SqlValue[] | undefined,
  until: readonly SqlValue[] | undefined,
): Promise<readonly Row[]> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const open = withoutReplacedBounds(filter, key, after, until);
  const conditions = [...filterConditions(open, bind), ...keyConditions(key, after, until, bind)];
  const selected = selectedOf(columns, dateColumn);
  const groups = columns.join(', ');
  const rows = `from subscription where tenant_id = $1${and(conditions)}` as const;
  if (covered) return reader.all(`select ${selected}, count(*) as n ${rows} group by ${groups}`, values);
  return reader.all(
    `select ${groups}, count(*) as n from (select ${selected} ${rows} order by ${key.join(', ')} limit ${bind(stepRows)}) as step
    group by ${groups}`,
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

/**
 * A filter without the bounds of the key's date that the keys of a step replace: with both, SQLite
 * begins each step at the filter's bound, and the time grows with the square of the steps.
 */
function withoutReplacedBounds(
  filter: SubscriptionFilter,
  [dateColumn]: readonly string[],
  after: readonly SqlValue[] | undefined,
  until: readonly SqlValue[] | undefined,
): SubscriptionFilter {
  const open = ({ afterSeconds, beforeSeconds, ...others }: DateBounds): DateBounds => {
    const isReplaced = others.dateColumn === dateColumn;
    return {
      ...others,
      ...(afterSeconds !== undefined && !(isReplaced && after !== undefined) && { afterSeconds }),
      ...(beforeSeconds !== undefined && !(isReplaced && until !== undefined) && { beforeSeconds }),
    };
  };
  const { furtherBounds } = filter;
  return { ...open(filter), ...(furtherBounds !== undefined && { furtherBounds: furtherBounds.map(open) }) };
}

function keyConditions(
  key: readonly string[],
  after: readonly SqlValue[] | undefined,
  until: readonly SqlValue[] | undefined,
  bind: Bind,
): string[] {
  const compare = (sign: string, values: readonly SqlValue[]): string =>
    `(${key.join(', ')}) ${sign} (${values.map(bind).join(', ')})`;
  return [
    ...(after === undefined ? [] : [compare('>', after)]),
    ...(until === undefined ? [] : [compare('<=', until)]),
  ];
}
