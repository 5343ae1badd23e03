import { type Calendar, dayNumber } from '../calendar.ts';
import {
  addTo,
  countIntervals,
  countPlans,
  countProducts,
  countStatuses,
  type StatusCounts,
} from '../counts/intervals.ts';
import { readRange } from '../counts/range.ts';
import { endOrderKey, firstOrderKey } from '../order-key.ts';
import type { Row, SqlValue, TenantReader, TenantSql } from '../store.ts';
import {
  and,
  type Bind,
  binder,
  countedFilter,
  type DateColumn,
  filterConditions,
  type SubscriptionFilter,
} from '../subscription-filter.ts';
import {
  chooseIndex,
  countedParts,
  readSelectivity,
  readsProduct,
  type Selectivity,
  scanCost,
} from './choose-index.ts';
import { type Dimension, type DimensionScan, scanDimensions } from './scan-dimensions.ts';

/** The rows that a summary counts, and its dimensions. */
export interface SummaryPlan {
  readonly filter: SubscriptionFilter;
  readonly columns: readonly Exclude<Dimension, 'day'>[];
  /** Days or months to count by as well. */
  readonly bucket?: SummaryBucket;
}

/** Records by value, days and months by their start. Has only values that occur. */
export type DimensionCounts = ReadonlyMap<SqlValue, number>;

/** The number of records, in all and by dimension. */
export interface SummaryCounts {
  readonly total: number;
  readonly columns: ReadonlyMap<SummaryPlan['columns'][number], DimensionCounts>;
  readonly buckets: DimensionCounts;
  /** Names of the products in `columns`. */
  readonly productNames: ReadonlyMap<SqlValue, string>;
}

/**
 * Counts the records of a filter by dimensions: from the stored counts where possible, else by
 * counting ranges of an index, or by reading an index or the records in steps.
 */
export async function summarise(reader: TenantReader, plan: SummaryPlan): Promise<SummaryCounts> {
  const { filter, columns, bucket } = plan;
  const parts = await countedParts(reader, filter);
  const totals = parts && (await Promise.all(parts.map(async (part) => (await readRange(reader, part)).total)));
  const counted = new Map<Dimension, DimensionCounts>();
  const asked: readonly Dimension[] = bucket === undefined ? columns : [...columns, 'day'];
  if (parts !== undefined && totals !== undefined) {
    const isByProduct = asked.includes('product_id') || asked.includes('plan_id');
    const rowsRead = isByProduct ? costOfScan(await readSelectivity(reader, filter), filter, asked) : 0;
    const counting = asked.map(async (column) => {
      const ofParts = parts.map((part, index) =>
        countDimension(reader, { ...plan, filter: part }, column, totals[index] ?? 0, rowsRead),
      );
      const counts = joinCounts(await Promise.all(ofParts));
      if (counts !== undefined) counted.set(column, counts);
    });
    await Promise.all(counting);
  }
  if (bucket !== undefined && !counted.has('day') && (await areRangesCheaper(reader, filter, bucket, asked)))
    counted.set('day', await countBuckets(reader, filter, bucket));
  const rest = asked.filter((column) => !counted.has(column));
  if (rest.length > 0) {
    const dateColumn = bucket?.dateColumn ?? 'created_date';
    const days = bucket === undefined ? undefined : dayNumber(dateColumn, bucket.offsets());
    const scan = { filter, columns: rest, dateColumn, ...(days !== undefined && { days }) };
    for (const [column, counts] of await readScan(reader, scan, bucket)) counted.set(column, counts);
  }
  const [any] = counted.values();
  const products = [...(counted.get('product_id') ?? new Map<SqlValue, number>()).keys()].map(String);
  return {
    total: totals?.reduce((sum, n) => sum + n, 0) ?? sumOf(any ?? new Map()),
    columns: new Map(columns.map((column) => [column, counted.get(column) ?? new Map()])),
    buckets: counted.get('day') ?? new Map(),
    productNames: await readProductNames(reader, products),
  };
}

/** Adds counts up by value; `undefined` if one is. */
function joinCounts(parts: readonly (DimensionCounts | undefined)[]): DimensionCounts | undefined {
  const sums = new Map<SqlValue, number>();
  for (const part of parts) {
    if (part === undefined) return undefined;
    for (const [value, n] of part) addTo(sums, value, n);
  }
  return sums;
}

/** The cost of reading the rows of a filter, in entries of an index. */
function costOfScan({ entries }: Selectivity, filter: SubscriptionFilter, columns: readonly Dimension[]): number {
  const reads = readsProduct(filter, columns);
  return scanCost(entries, chooseIndex(entries, reads), reads);
}

/**
 * Whether days or months are counted as ranges of the index of their date, which must have all that
 * the filter compares, instead of with the rows of a narrower index.
 */
async function areRangesCheaper(
  reader: TenantReader,
  filter: SubscriptionFilter,
  { dateColumn }: SummaryBucket,
  columns: readonly Dimension[],
): Promise<boolean> {
  if (!hasBucketIndex(filter, dateColumn)) return false;
  const selectivity = await readSelectivity(reader, filter);
  const { [dateColumn]: n = selectivity.entries.all } = selectivity.entries;
  return n <= rangeEntries * costOfScan(selectivity, filter, columns);
}

/** Entries that are counted as ranges at the cost of one that is grouped (`countBuckets`). */
const rangeEntries = 10;

const sumOf = (counts: ReadonlyMap<unknown, number>): number => [...counts.values()].reduce((sum, n) => sum + n, 0);

/** Counts by one dimension from the stored counts; `undefined` if they do not have it. */
async function countDimension(
  reader: TenantReader,
  { filter, bucket }: SummaryPlan,
  column: Dimension,
  total: number,
  rowsRead: number,
): Promise<DimensionCounts | undefined> {
  if (total === 0) return new Map();
  if (column === 'status') return withoutNone(await countByStatus(reader, filter, total));
  if (column === 'auto_renew') return withoutNone(await countByRenewal(reader, filter, total));
  if (column === 'product_id') {
    const products = await countProducts(reader, filter, total, rowsRead);
    return products && withoutNone(products);
  }
  if (column === 'plan_id') {
    const plans = await countPlans(reader, filter, total, rowsRead);
    return plans && withoutNone(plans);
  }
  const ordered = bucket && countedFilter(filter, bucket.dateColumn);
  if (column !== 'day' || bucket === undefined || ordered === undefined) return undefined;
  const [first, last] = await readEnds(reader, ordered);
  if (first === undefined || last === undefined) return new Map();
  const edges: number[] = [];
  for (let edge = first; edge <= last; edge = bucket.endOf(edge)) {
    edges.push(edge);
    if (edges.length % edgesPerProbe > 0) continue;
    // a date may be thousands of empty months later
    const following = await readFirstDate(reader, { ...ordered, afterSeconds: edge }, bucket.dateColumn);
    if (following === undefined || following < bucket.endOf(edge)) continue;
    edge = following;
    edges.push(edge);
  }
  const intervals = await countIntervals(reader, ordered, [...edges, last + 1]);
  const counts = new Map<number, number>();
  for (const [index, edge] of edges.entries())
    addTo(counts, bucket.startOf(edge), sumOf(intervals[index] ?? new Map()));
  return counts;
}

/** Edges after which the next date is looked for. */
const edgesPerProbe = 1_000;

async function countByRenewal(
  reader: TenantReader,
  filter: SubscriptionFilter,
  total: number,
): Promise<DimensionCounts> {
  if (filter.autoRenew !== undefined) return new Map([[filter.autoRenew, total]]);
  const { total: renewed } = await readRange(reader, { ...filter, autoRenew: 'true' });
  return new Map([['true', renewed] as const, ['false', total - renewed] as const]);
}

async function countByStatus(reader: TenantReader, filter: SubscriptionFilter, total: number): Promise<StatusCounts> {
  const { statuses, afterSeconds, beforeSeconds } = filter;
  const [status, ...others] = statuses ?? [];
  if (status !== undefined && others.length === 0) return new Map([[status, total]]);
  if (afterSeconds === undefined && beforeSeconds === undefined) return countStatuses(reader, filter);
  const edges = [afterSeconds === undefined ? firstOrderKey.date : afterSeconds + 1, beforeSeconds ?? endOrderKey.date];
  const [counts] = await countIntervals(reader, filter, edges);
  return counts ?? new Map();
}

const withoutNone = <K extends SqlValue>(counts: ReadonlyMap<K, number>): DimensionCounts =>
  new Map([...counts].filter(([, n]) => n > 0));

/** The first and the last date within a filter's product and bounds, of any status and renewal. */
async function readEnds(reader: TenantReader, filter: SubscriptionFilter): Promise<(number | undefined)[]> {
  const { statuses: _statuses, autoRenew: _autoRenew, ...others } = filter;
  const { dateColumn } = filter;
  const values: SqlValue[] = [];
  const conditions = filterConditions(others, binder(values));
  const ends = (['asc', 'desc'] as const).map(async (direction) => {
    const [row] = await reader.all(
      `select ${dateColumn} as date from subscription where tenant_id = $1${and(conditions)}
      order by ${dateColumn} ${direction}, id ${direction} limit 1`,
      values,
    );
    return dateIn(row);
  });
  return Promise.all(ends);
}

async function readScan(
  reader: TenantReader,
  scan: DimensionScan,
  bucket: SummaryBucket | undefined,
): Promise<ReadonlyMap<Dimension, DimensionCounts>> {
  const byColumn = new Map(scan.columns.map((column) => [column, new Map<SqlValue, number>()]));
  for await (const row of scanDimensions(reader, scan)) {
    for (const [column, counts] of byColumn) {
      const value = row[column] ?? null;
      addTo(counts, column === 'day' && bucket ? bucket.startOf(Number(value)) : value, Number(row.n));
    }
  }
  return byColumn;
}

/** Days or months of a date. */
export interface SummaryBucket extends Calendar {
  readonly dateColumn: DateColumn;
}

/** Conditions of a filter whose columns the index of each date has after the date. */
const indexedWith = ['statuses', 'autoRenew', 'planId'];

/** Whether one index has the date and all columns that the filter compares. */
function hasBucketIndex(filter: SubscriptionFilter, dateColumn: DateColumn): boolean {
  const { dateColumn: bounded, afterSeconds, beforeSeconds, ...conditions } = filter;
  const isBounded = afterSeconds !== undefined || beforeSeconds !== undefined;
  if (isBounded && bounded !== dateColumn) return false;
  return Object.keys(conditions).every((name) => indexedWith.includes(name));
}

/**
 * Counts the records of a filter by day or month, each as one range of an index (`hasBucketIndex`).
 * Days and months without a record are skipped. Counting a range takes a tenth of the time of
 * `group by`, which computes the day of each entry.
 */
async function countBuckets(
  reader: TenantReader,
  filter: SubscriptionFilter,
  { dateColumn, startOf, endOf }: SummaryBucket,
): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>();
  const { beforeSeconds: last = Number.POSITIVE_INFINITY } = filter;
  let date = await readFirstDate(reader, filter, dateColumn);
  while (date !== undefined) {
    const { n, following } = await countRange(reader, filter, dateColumn, date, Math.min(endOf(date), last));
    addTo(counts, startOf(date), n);
    date = following;
  }
  return counts;
}

/** The rows from one date until before another, and the next date within the filter's bounds. */
async function countRange(
  reader: TenantReader,
  filter: SubscriptionFilter,
  dateColumn: DateColumn,
  from: number,
  until: number,
): Promise<{ readonly n: number; readonly following: number | undefined }> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const range = { ...filter, dateColumn, afterSeconds: from - 1, beforeSeconds: until };
  // both subqueries compare `tenant_id`
  const [row] = await reader.all(
    `select (select count(*) from subscription where tenant_id = $1${and(filterConditions(range, bind))}) as n,
      (${firstDateSql({ ...filter, afterSeconds: until - 1 }, dateColumn, bind)}) as date` as TenantSql,
    values,
  );
  return { n: Number(row?.n ?? 0), following: dateIn(row) };
}

async function readFirstDate(
  reader: TenantReader,
  filter: SubscriptionFilter,
  dateColumn: DateColumn,
): Promise<number | undefined> {
  const values: SqlValue[] = [];
  const [row] = await reader.all(`${firstDateSql(filter, dateColumn, binder(values))}` as TenantSql, values);
  return dateIn(row);
}

/** Without the conditions after the date, one step in the index finds the first date. */
function firstDateSql(filter: SubscriptionFilter, dateColumn: DateColumn, bind: Bind): string {
  const { statuses: _statuses, autoRenew: _autoRenew, planId: _planId, ...others } = filter;
  const conditions = filterConditions({ ...others, dateColumn }, bind);
  return `select ${dateColumn} as date from subscription where tenant_id = $1${and(conditions)} order by ${dateColumn}, id limit 1`;
}

const dateIn = (row: Row | undefined): number | undefined =>
  row === undefined || row.date === null || row.date === undefined ? undefined : Number(row.date);

/**
 * Products that one statement reads. Each number of products is a prepared statement of its own.
 */
const productsPerStatement = 20;

/**
 * Returns the name of each product in the last of its records in the default order, as they are or
 * at a revision. Costs one step in an index and one record per product; at a revision, it also
 * reads what has changed since. Products without a record are absent.
 */
export async function readProductNames(
  reader: TenantReader,
  products: readonly string[],
  revision?: number,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const versions = revision === undefined ? new Map<SqlValue, Row>() : await readLastVersions(reader, revision);
  for (let from = 0; from < products.length; from += productsPerStatement) {
    const some = products.slice(from, from + productsPerStatement);
    const records = await readLastRecords(reader, some, revision);
    for (const [index, product] of some.entries()) {
      const name = nameIn(laterRecord(records[index] ?? null, versions.get(product)));
      if (name !== undefined) names.set(product, name);
    }
  }
  return names;
}

/** Subqueries, because Citus joins no distributed table laterally to a list of values. */
async function readLastRecords(
  reader: TenantReader,
  products: readonly string[],
  revision: number | undefined,
): Promise<readonly SqlValue[]> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const unchanged = revision === undefined ? '' : ` and revision <= ${bind(revision)}`;
  const columns = products.map(
    (product, index) =>
      `(select record from subscription where tenant_id = $1 and product_id = ${bind(product)}${unchanged}
        order by created_date desc, id desc limit 1) as record_${index}`,
  );
  // every subquery compares `tenant_id`
  const [row] = await reader.all(`select ${columns.join(', ')}` as TenantSql, values);
  return products.map((_, index) => row?.[`record_${index}`] ?? null);
}

/** The last version of each product, among those that were current at a revision. */
async function readLastVersions(reader: TenantReader, revision: number): Promise<ReadonlyMap<SqlValue, Row>> {
  const rows = await reader.all(
    `select product_id, created_date, id, record from (
       select product_id, created_date, id, record,
         row_number() over (partition by product_id order by created_date desc, id desc) as place
       from subscription_version where tenant_id = $1 and until_revision > $2 and from_revision <= $2
     ) as version where place = 1`,
    [revision],
  );
  return new Map(rows.map((row) => [row.product_id ?? null, row]));
}

/** Whichever comes last in the default order: a record, or a version. */
function laterRecord(record: SqlValue, version: Row | undefined): SqlValue {
  if (version === undefined || typeof record !== 'string') return version?.record ?? record;
  const { id, createdDate } = JSON.parse(record) as { readonly id: string; readonly createdDate: string };
  const isLater = Date.parse(createdDate) / 1000 - Number(version.created_date) || (id < String(version.id) ? -1 : 1);
  return isLater > 0 ? record : (version.record ?? null);
}

/** The product's name in the JSON text of a record. */
function nameIn(record: SqlValue): string | undefined {
  if (typeof record !== 'string') return undefined;
  const { product } = JSON.parse(record) as { readonly product?: { readonly name?: string } };
  return product?.name;
}
