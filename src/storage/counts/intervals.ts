import { compareKeys, endKey, type OrderKey } from '../order-key.ts';
import type { SqlValue, TenantReader } from '../store.ts';
import { and, binder, countedPart, dayOf, filterConditions, type SubscriptionFilter } from '../subscription-filter.ts';
import { type Span, seriesOfProduct, spanColumns, toSpan, wholeSeries } from './span.ts';

/** Records by status; those without one stand under `null`. */
export type StatusCounts = Map<string | null, number>;

/**
 * A part of the default order, from a key to another; without an end, it reaches at least to the
 * last edge.
 */
interface Part {
  readonly from: OrderKey;
  readonly until: OrderKey | undefined;
}

/**
 * Counts the records of a filter's product and statuses between each two neighbouring `edges`,
 * `createdDate` in UTC epoch seconds in ascending order: from one on, before the next. All but the
 * first and the last edge are at midnight, as rows are counted by day. Spans inside an interval
 * give their counts; those across an edge are taken apart, at last into rows, at most `spanRowsMax`
 * an edge. Without `byStatus` only the sums over all statuses mean something: rows are then counted
 * in an index that has no status.
 */
export async function countIntervals(
  reader: TenantReader,
  filter: SubscriptionFilter,
  edges: readonly number[],
  byStatus: boolean,
): Promise<readonly StatusCounts[]> {
  const intervals: StatusCounts[] = edges.slice(1).map(() => new Map());
  const [first, last] = [keyAt(edges[0] ?? endKey.date), keyAt(edges.at(-1) ?? endKey.date)];
  let parts: readonly Part[] = [{ from: first, until: last.date === endKey.date ? endKey : undefined }];
  for (const level of [1, 0] as const) {
    const read = parts.map(async (part) => withEnds(await readSpans(reader, filter, level, part, last), part.until));
    parts = addWholeSpans(filter, edges, intervals, (await Promise.all(read)).flat());
  }
  const clipped = parts.map(({ from, until }) => ({
    from: compareKeys(from, first) < 0 ? first : from,
    until: until === undefined || compareKeys(until, last) > 0 ? last : until,
  }));
  await Promise.all(
    clipped.map(async (part) => {
      for (const { date, status, n } of await readRows(reader, filter, part, byStatus))
        addTo(intervals[intervalOf(edges, Number(date))], status === null ? null : String(status), Number(n));
    }),
  );
  return intervals;
}

/** Adds so many records of a status. */
export function addTo<K>(counts: Map<K, number> | undefined, value: K, n: number): void {
  if (n !== 0) counts?.set(value, (counts.get(value) ?? 0) + n);
}

/**
 * What a span counts of a filter's statuses, each by itself; those without a status are what is
 * left.
 */
export function statusCounts(
  { statuses: wanted }: SubscriptionFilter,
  { n, statuses }: Span,
): [string | null, number][] {
  const all = Object.entries(statuses);
  if (wanted !== undefined) return all.filter(([status]) => wanted.includes(status));
  return [...all, [null, all.reduce((rest, [, rows]) => rest - rows, n)]];
}

const keyAt = (date: number): OrderKey => ({ date, id: '' });

/** The place of the interval that a date lies in: -1 before the first edge. */
function intervalOf(edges: readonly number[], date: number): number {
  let [low, high] = [0, edges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((edges[middle] ?? 0) <= date) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

type EndedSpan = Span & Part;

/**
 * Spans with the keys that end them: each its neighbour's, the last one that of the part they were
 * read for.
 */
const withEnds = (spans: readonly Span[], until: OrderKey | undefined): EndedSpan[] =>
  spans.map((span, index) => ({ ...span, until: spans[index + 1]?.from ?? until }));

/** Adds the spans that lie inside one interval, and gives the others, neighbours as one part. */
function addWholeSpans(
  filter: SubscriptionFilter,
  edges: readonly number[],
  intervals: readonly StatusCounts[],
  spans: readonly EndedSpan[],
): Part[] {
  const others: Part[] = [];
  for (const span of spans) {
    const { from, until } = span;
    const place = intervalOf(edges, from.date);
    const edge = edges[place + 1];
    if (until !== undefined && edge !== undefined && compareKeys(until, keyAt(edge)) <= 0) {
      // none at place -1
      for (const [status, n] of statusCounts(filter, span)) addTo(intervals[place], status, n);
    } else {
      const before = others.at(-1);
      if (before?.until !== undefined && compareKeys(before.until, from) === 0)
        others.splice(-1, 1, { ...before, until });
      else others.push({ from, until });
    }
  }
  return others;
}

/** The spans of a level that a part touches, the first one the one that its key lies in. */
async function readSpans(
  reader: TenantReader,
  { productId }: SubscriptionFilter,
  level: 0 | 1,
  { from, until }: Part,
  last: OrderKey,
): Promise<Span[]> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const spans = `subscription_span where tenant_id = $1 and level = ${level}
    and series = ${bind(productId === undefined ? wholeSeries : seriesOfProduct(productId))}` as const;
  const end = until === undefined || compareKeys(until, last) > 0 ? last : until;
  const rows = await reader.all(
    `with first as (select from_date, coalesce(from_id, '') as at_id from subscription_span where tenant_id = $1 and level = ${level}
      and series = $2 and (from_date, from_id) <= (${bind(from.date)}, ${bind(from.id)}) order by from_date desc, from_id desc limit 1)
    select ${spanColumns} from ${spans} and (from_date, from_id) >= (select from_date, at_id from first)
      and (from_date, from_id) < (${bind(end.date)}, ${bind(end.id)}) order by from_date, from_id`,
    values,
  );
  return rows.map(toSpan);
}

/** The rows of a part by day and, unless it does not matter, by status. */
function readRows(reader: TenantReader, filter: SubscriptionFilter, { from, until }: Part, byStatus: boolean) {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const conditions = filterConditions(countedPart(filter), bind);
  const end = until ?? endKey;
  return reader.all(
    `select min(created_date) as date, ${byStatus ? 'status' : 'null as status'}, count(*) as n
      from subscription where tenant_id = $1${and(conditions)}
      and (created_date, id) >= (${bind(from.date)}, ${bind(from.id)}) and (created_date, id) < (${bind(end.date)}, ${bind(end.id)})
      group by ${dayOf('created_date')}${byStatus ? ', status' : ''}`,
    values,
  );
}
