import { dayNumberFrom } from '../calendar.ts';
import { compareOrderKeys, endOrderKey, type OrderKey } from '../order-key.ts';
import type { Row, SqlValue, TenantReader } from '../store.ts';
import { and, binder, countedPart, filterConditions, type SubscriptionFilter } from '../subscription-filter.ts';
import { productSeries } from './limit-values.ts';
import { readRange } from './range.ts';
import {
  planKey,
  planKeys,
  productOfSeries,
  type Span,
  type SpanLevel,
  seriesOfFilter,
  spanColumns,
  spanLevel,
  spansSql,
  statusCounts,
  toSpan,
} from './span.ts';
import { lowerBound } from './span-tree.ts';

/** Rows by status; `null` is the key of rows without one. */
export type StatusCounts = Map<string | null, number>;

/** A range of an order. Without `until`, it extends at least to the last edge. */
interface KeyRange {
  readonly from: OrderKey;
  readonly until: OrderKey | undefined;
}

/**
 * Counts the rows of a filter's `countedPart` between each two adjacent `edges`: dates in UTC epoch
 * seconds, ascending, each included in the interval that it begins. Edges between which
 * many days lie should be at the same time of day, as rows are counted by day. A span inside one
 * interval is added as it is; one across an edge is replaced by its children, and a leaf by its
 * rows, at most `leafRowsMax` for each edge.
 */
export async function countIntervals(
  reader: TenantReader,
  filter: SubscriptionFilter,
  edges: readonly number[],
): Promise<readonly StatusCounts[]> {
  const intervals: StatusCounts[] = edges.slice(1).map(() => new Map());
  const [first, last] = [keyOf(edges[0] ?? endOrderKey.date), keyOf(edges.at(-1) ?? endOrderKey.date)];
  let ranges: readonly KeyRange[] = [{ from: first, until: last.date === endOrderKey.date ? endOrderKey : undefined }];
  for (const level of [spanLevel.group, spanLevel.leaf]) {
    const read = ranges.map(async (range) =>
      withEnds(await readSpans(reader, seriesOfFilter(filter), level, clip(range, last)), range.until),
    );
    ranges = addWholeSpans(filter, edges, intervals, (await Promise.all(read)).flat());
  }
  const clipped = ranges.map(({ from, until }) =>
    clip({ from: compareOrderKeys(from, first) < 0 ? first : from, until }, last),
  );
  await Promise.all(
    clipped
      .flatMap((range) => splitByTime(range, edges))
      .map(async (range) => {
        for (const { date, status, n } of await readRows(reader, filter, range))
          addTo(intervals[intervalOf(edges, Number(date))], status === null ? null : String(status), Number(n));
      }),
  );
  return intervals;
}

/** Adds `n` to the count of a value. */
export function addTo<K>(counts: Map<K, number> | undefined, value: K, n: number): void {
  if (n !== 0) counts?.set(value, (counts.get(value) ?? 0) + n);
}

const keyOf = (date: number): OrderKey => ({ date, id: '' });

/** Index of the interval that holds a date; -1 before the first edge. */
const intervalOf = (edges: readonly number[], date: number): number =>
  lowerBound(edges.length, (index) => (edges[index] ?? 0) <= date) - 1;

/** Shortens a range to end at `last` if it would end later. */
const clip = ({ from, until }: KeyRange, last: OrderKey) => ({
  from,
  until: until === undefined || compareOrderKeys(until, last) > 0 ? last : until,
});

type EndedSpan = Span & KeyRange;

/** Adds upper bounds to adjacent spans; `until` is that of the last span. */
const withEnds = (spans: readonly Span[], until: OrderKey | undefined): EndedSpan[] =>
  spans.map((span, index) => ({ ...span, until: spans[index + 1]?.from ?? until }));

/**
 * Adds the spans that lie inside one interval; returns the ranges of the others, adjacent ones
 * joined.
 */
function addWholeSpans(
  filter: SubscriptionFilter,
  edges: readonly number[],
  intervals: readonly StatusCounts[],
  spans: readonly EndedSpan[],
): KeyRange[] {
  const others: KeyRange[] = [];
  for (const span of spans) {
    const { from, until } = span;
    const index = intervalOf(edges, from.date);
    const edge = edges[index + 1];
    if (until !== undefined && edge !== undefined && compareOrderKeys(until, keyOf(edge)) <= 0) {
      // a span before the first edge has index -1: `intervals[-1]` is undefined, nothing is added
      for (const [status, n] of statusCounts(filter, span)) addTo(intervals[index], status, n);
    } else {
      const before = others.at(-1);
      if (before?.until !== undefined && compareOrderKeys(before.until, from) === 0)
        others.splice(-1, 1, { ...before, until });
      else others.push({ from, until });
    }
  }
  return others;
}

/** The spans of a level that overlap a range; the first one holds its first key. */
async function readSpans(
  reader: TenantReader,
  series: string,
  level: SpanLevel,
  { from, until }: { readonly from: OrderKey; readonly until: OrderKey },
): Promise<Span[]> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const tree = bind(series);
  const first = `select from_date, coalesce(from_id, '') as at_id from subscription_span where tenant_id = $1 and level = ${level}
      and series = ${tree} and (from_date, from_id) <= (${bind(from.date)}, ${bind(from.id)}) order by from_date desc, from_id desc limit 1`;
  const end = `< (${bind(until.date)}, ${bind(until.id)})`;
  const spans = spansSql({ series: tree, level, from: '(select from_date, at_id from first)', end });
  const rows = await reader.all(`with first as (${first}) ${spans} order by from_date, from_id`, values);
  return rows.map(toSpan);
}

interface EndedRange {
  readonly from: OrderKey;
  readonly until: OrderKey;
}

/** A range whose inner edges are all `secondsOfDay` after midnight in UTC. */
interface TimedRange extends EndedRange {
  readonly secondsOfDay: number;
}

const daySeconds = 86_400;

/** Splits a range into those whose inner edges are at the same time of day, at an edge before. */
function splitByTime({ from, until }: EndedRange, edges: readonly number[]): readonly TimedRange[] {
  const ranges: TimedRange[] = [];
  let [start, secondsOfDay, previous]: [OrderKey, number | undefined, OrderKey] = [from, undefined, from];
  for (let index = intervalOf(edges, from.date) + 1; index < edges.length; index += 1) {
    const edge = keyOf(edges[index] ?? 0);
    if (compareOrderKeys(edge, until) >= 0) break;
    const time = ((edge.date % daySeconds) + daySeconds) % daySeconds;
    if (secondsOfDay !== undefined && time !== secondsOfDay) {
      ranges.push({ from: start, until: previous, secondsOfDay });
      start = previous;
    }
    [secondsOfDay, previous] = [time, edge];
  }
  return [...ranges, { from: start, until, secondsOfDay: secondsOfDay ?? 0 }];
}

/** Counts the rows of a range by day and status. */
function readRows(reader: TenantReader, filter: SubscriptionFilter, { from, until, secondsOfDay }: TimedRange) {
  const { dateColumn, productId } = filter;
  const values: SqlValue[] = [];
  const bind = binder(values);
  const index = productId === undefined ? dateColumn : 'product_id';
  const conditions = filterConditions({ ...countedPart(filter), index }, bind);
  return reader.all(
    `select min(${dateColumn}) as date, status, count(*) as n from subscription where tenant_id = $1${and(conditions)}
      and (${dateColumn}, id) >= (${bind(from.date)}, ${bind(from.id)}) and (${dateColumn}, id) < (${bind(until.date)}, ${bind(until.id)})
      group by ${dayNumberFrom(dateColumn, bind(secondsOfDay))}, status`,
    values,
  );
}

/** The cost of ranking one bound, in rows that could be read instead. */
const rowsOfBound = 500;

/** All rows of a filter's `countedPart` by status: one read of the root. */
export async function countStatuses(reader: TenantReader, filter: SubscriptionFilter): Promise<StatusCounts> {
  const [row] = await reader.all(
    `select ${spanColumns} from subscription_span where tenant_id = $1 and series = $2 and level = ${spanLevel.root}`,
    [seriesOfFilter(filter)],
  );
  return new Map(row === undefined ? [] : statusCounts(filter, toSpan(row)));
}

/**
 * Counts the `total` rows of a counted filter by product, from the tree of each product.
 * `undefined` if reading `rowsRead` rows is less work: few rows between bounds, and many products.
 */
export async function countProducts(
  reader: TenantReader,
  filter: SubscriptionFilter,
  total: number,
  rowsRead: number,
): Promise<ReadonlyMap<string, number> | undefined> {
  const { productId, dateColumn, afterSeconds, beforeSeconds } = filter;
  if (productId !== undefined) return new Map([[productId, total]]);
  const bounds = [afterSeconds, beforeSeconds].filter((bound) => bound !== undefined).length;
  if (bounds > 0 && dateColumn !== 'created_date') return undefined;
  const roots = (await readProductRoots(reader)).map(toSpan);
  if (roots.length * bounds * rowsOfBound > rowsRead) return undefined;
  const counted = roots.map(async (root): Promise<[string, number]> => {
    const product = productOfSeries(root.series) ?? '';
    if (bounds > 0) return [product, (await readRange(reader, { ...filter, productId: product })).total];
    return [product, statusCounts(filter, root).reduce((sum, [, n]) => sum + n, 0)];
  });
  return new Map(await Promise.all(counted));
}

/**
 * Counts the `total` rows of a counted filter by plan, from the trees of products: as long as each
 * product has one plan, its rows are those of the plan. `undefined` if one has several, or if
 * counting by product is more work than reading the rows.
 */
export async function countPlans(
  reader: TenantReader,
  filter: SubscriptionFilter,
  total: number,
  rowsRead: number,
): Promise<ReadonlyMap<string | null, number> | undefined> {
  const { plans } = await findProducts(reader, undefined);
  const products = await countProducts(reader, filter, total, rowsRead);
  if (products === undefined) return undefined;
  const counts = new Map<string | null, number>();
  for (const [product, n] of products) {
    const plan = plans.get(product);
    if (plan === undefined) return undefined; // it has several
    addTo(counts, plan, n);
  }
  return counts;
}

/** Products, and how many records they have in all. */
interface FoundProducts {
  readonly products: readonly string[];
  readonly n: number;
  /** Whether all these records are of the plan that was asked for. */
  readonly areWhole: boolean;
  /** The plan of each product that has only one; `null` if none of its records has a plan. */
  readonly plans: ReadonlyMap<string, string | null>;
}

/** Finds the products with records, or with those of one plan. */
export async function findProducts(reader: TenantReader, planId: string | undefined): Promise<FoundProducts> {
  const roots = (await readProductRoots(reader)).map(toSpan);
  const ofPlan = ({ counts }: Span): number => counts[`${planKey}${planId}`] ?? 0;
  const some = planId === undefined ? roots : roots.filter((root) => ofPlan(root) > 0);
  return {
    products: some.map(({ series }) => productOfSeries(series) ?? ''),
    n: some.reduce((sum, { n }) => sum + n, 0),
    areWhole: planId === undefined || some.every((root) => ofPlan(root) === root.n),
    plans: new Map(
      some.flatMap(({ series, n, counts }) => onlyPlan(counts, n).map((plan) => [productOfSeries(series) ?? '', plan])),
    ),
  };
}

/**
 * The plan that all `n` records of a product have, `null` if none has one; empty if they differ.
 */
function onlyPlan(counts: Span['counts'], n: number): (string | null)[] {
  const [plan] = planKeys(counts);
  if (plan === undefined) return [null];
  return counts[plan] === n ? [plan.slice(planKey.length)] : [];
}

/** The ids and plans of at most `most` products with records, in one order on both engines. */
export async function listProducts(
  reader: TenantReader,
  most: number,
): Promise<{ readonly products: readonly string[]; readonly plans: readonly string[] }> {
  const roots = (await readProductRoots(reader, most)).map(toSpan).filter(({ n }) => n > 0);
  const plans = new Set(roots.flatMap(({ counts }) => planKeys(counts)).map((key) => key.slice(planKey.length)));
  return {
    products: roots.map(({ series }) => productOfSeries(series) ?? '').sort(),
    plans: [...plans].filter((plan) => plan !== '').sort(),
  };
}

/** The root of each product's tree. */
function readProductRoots(reader: TenantReader, most = Number.MAX_SAFE_INTEGER): Promise<readonly Row[]> {
  return reader.all(
    `${productSeries}
    select ${spanColumns} from subscription_span where tenant_id = $1 and level = ${spanLevel.root}
      and series in (select series from product where series is not null)`,
    [most],
  );
}
