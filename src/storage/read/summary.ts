import { addTo, countIntervals, type StatusCounts } from '../counts/intervals.ts';
import { countProducts, countStatuses } from '../counts/products.ts';
import { readRange } from '../counts/range.ts';
import { endOrderKey, firstOrderKey } from '../order-key.ts';
import type { SqlValue, TenantReader } from '../store.ts';
import { and, binder, filterConditions, isCounted, type SubscriptionFilter } from '../subscription-filter.ts';
import { countBuckets, hasBucketIndex, type SummaryBucket } from './count-buckets.ts';
import { readProductNames } from './product-names.ts';
import { type Dimension, type DimensionScan, scanDimensions } from './scan-dimensions.ts';

/** The rows that a summary counts, and its dimensions. */
export interface SummaryPlan {
  readonly filter: SubscriptionFilter;
  readonly columns: readonly Exclude<Dimension, 'day'>[];
  /** Days or months to count by as well. */
  readonly bucket?: SummaryBucket;
}

/** Records by value, days and months by their first second. Has only values that occur. */
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
  const known = isCounted(filter) ? await readRange(reader, filter) : undefined;
  const counted = new Map<Dimension, DimensionCounts>();
  const asked: readonly Dimension[] = bucket === undefined ? columns : [...columns, 'day'];
  if (known !== undefined) {
    const counting = asked.map(async (column) => {
      const counts = await countDimension(reader, plan, column, known.total);
      if (counts !== undefined) counted.set(column, counts);
    });
    await Promise.all(counting);
  }
  if (bucket !== undefined && !counted.has('day') && hasBucketIndex(filter, bucket.dateColumn))
    counted.set('day', await countBuckets(reader, filter, bucket));
  const rest = asked.filter((column) => !counted.has(column));
  if (rest.length > 0) {
    const dateColumn = bucket?.dateColumn ?? 'created_date';
    const scan = { filter, columns: rest, dateColumn, ...(known !== undefined && { entriesMax: known.total }) };
    for (const [column, counts] of await readScan(reader, scan, bucket)) counted.set(column, counts);
  }
  const [any] = counted.values();
  const products = [...(counted.get('product_id') ?? new Map<SqlValue, number>()).keys()].map(String);
  return {
    total: known?.total ?? sumOf(any ?? new Map()),
    columns: new Map(columns.map((column) => [column, counted.get(column) ?? new Map()])),
    buckets: counted.get('day') ?? new Map(),
    productNames: await readProductNames(reader, products),
  };
}

const sumOf = (counts: ReadonlyMap<unknown, number>): number => [...counts.values()].reduce((sum, n) => sum + n, 0);

/** Counts by one dimension from the stored counts; `undefined` if they do not have it. */
async function countDimension(
  reader: TenantReader,
  { filter, bucket }: SummaryPlan,
  column: Dimension,
  total: number,
): Promise<DimensionCounts | undefined> {
  if (total === 0) return new Map();
  if (column === 'status') return withoutNone(await countByStatus(reader, filter, total));
  if (column === 'product_id') {
    const products = await countProducts(reader, filter, total);
    return products && withoutNone(products);
  }
  if (column !== 'day' || bucket?.dateColumn !== 'created_date') return undefined;
  const [first, last] = await readEnds(reader, filter);
  if (first === undefined || last === undefined) return new Map();
  const starts: number[] = [];
  for (let start = bucket.startOf(first); start <= last; start = bucket.next(start)) starts.push(start);
  const edges = [first, ...starts.slice(1), last + 1];
  const intervals = await countIntervals(reader, filter, edges, false);
  return withoutNone(new Map(starts.map((start, index) => [start, sumOf(intervals[index] ?? new Map())])));
}

async function countByStatus(reader: TenantReader, filter: SubscriptionFilter, total: number): Promise<StatusCounts> {
  const { statuses, afterSeconds, beforeSeconds } = filter;
  const [status, ...others] = statuses ?? [];
  if (status !== undefined && others.length === 0) return new Map([[status, total]]);
  if (afterSeconds === undefined && beforeSeconds === undefined) return countStatuses(reader, filter);
  const edges = [afterSeconds === undefined ? firstOrderKey.date : afterSeconds + 1, beforeSeconds ?? endOrderKey.date];
  const [counts] = await countIntervals(reader, filter, edges, true);
  return counts ?? new Map();
}

const withoutNone = <K extends SqlValue>(counts: ReadonlyMap<K, number>): DimensionCounts =>
  new Map([...counts].filter(([, n]) => n > 0));

/** The first and the last `createdDate` within a filter's product and bounds, of any status. */
async function readEnds(reader: TenantReader, filter: SubscriptionFilter): Promise<(number | undefined)[]> {
  const { statuses: _statuses, ...others } = filter;
  const values: SqlValue[] = [];
  const conditions = filterConditions(others, binder(values));
  const ends = (['asc', 'desc'] as const).map(async (direction) => {
    const [row] = await reader.all(
      `select created_date from subscription where tenant_id = $1${and(conditions)}
      order by created_date ${direction}, id ${direction} limit 1`,
      values,
    );
    return row === undefined ? undefined : Number(row.created_date);
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
