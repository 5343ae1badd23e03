import { compareOrderKeys, firstOrderKey, type OrderKey } from '../order-key.ts';
import type { Row, TenantSql } from '../store.ts';
import type { SubscriptionFilter } from '../subscription-filter.ts';
import type { SubscriptionRow } from '../subscription-row.ts';

// An order-statistic B+-tree of row counts, one tree per tenant and one per tenant and product.
//
// - span: a node of a tree. It counts the rows between its order key and the next span's.
// - leaf: a span over rows, at most 500.
// - group: the sum of up to 64 leaves.
// - root: the sum of all groups, one row per tree.
// - series: the name of a tree, either `all` or `product=<id>`.
// - order key: `createdDate` and id, which order the rows.
// - rank: how many rows lie before an order key.
// - select: finds the row of a rank.

/** The levels of a tree, as they are stored. */
export const spanLevel = { leaf: 0, group: 1, root: 2 } as const;
export type SpanLevel = (typeof spanLevel)[keyof typeof spanLevel];

/** A node of a tree: how many rows lie between `from` and the next span of its level. */
export interface Span {
  readonly series: string;
  readonly level: SpanLevel;
  readonly from: OrderKey;
  /** All rows. */
  readonly n: number;
  /** The rows that have a status, by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** The fields of a row that decide which spans count it. */
export type CountedRow = Pick<SubscriptionRow, 'id' | 'createdDate' | 'productId' | 'status'>;

/** The columns that `toCountedRow` reads. */
export const countedColumns = 'id, created_date, product_id, status';

export function toCountedRow({ id, created_date, product_id, status }: Row): CountedRow {
  return {
    id: String(id),
    createdDate: Number(created_date),
    productId: String(product_id),
    status: status === null ? null : String(status),
  };
}

/** A leaf with more rows is split. The sizes were measured: docs/decisions/counts.md#counts. */
export const leafRowsMax = 500;
/** A leaf that shrinks below this is merged with a neighbour, if both fit into one. */
export const leafRowsMin = 60;
/** Rows of a new leaf: far enough from both bounds that it is not split or merged again at once. */
export const leafRowsAimed = 350;
/** A group with more leaves is split. */
export const groupLeavesMax = 64;
export const groupLeavesAimed = 40;

/** The series of all rows of a tenant. */
export const wholeSeries = 'all';
const productPrefix = 'product=';

const seriesOfProduct = (productId: string): string => `${productPrefix}${productId}`;

/** The product that a series counts, or `undefined` if it counts all rows. */
export const productOfSeries = (series: string): string | undefined =>
  series === wholeSeries ? undefined : series.slice(productPrefix.length);

/** Both series that count a row. */
export const seriesOfRow = ({ productId }: CountedRow): readonly string[] => [wholeSeries, seriesOfProduct(productId)];

/** The series that holds the counts of a filter. */
export const seriesOfFilter = ({ productId }: SubscriptionFilter): string =>
  productId === undefined ? wholeSeries : seriesOfProduct(productId);

/** The columns that `toSpan` reads. */
export const spanColumns = 'series, level, from_date, from_id, n, cast(statuses as text) as statuses';

export function toSpan(row: Row): Span {
  return {
    series: String(row.series),
    level: Number(row.level) as SpanLevel,
    from: { date: Number(row.from_date), id: String(row.from_id) },
    n: Number(row.n),
    statuses: JSON.parse(String(row.statuses)),
  };
}

/** Adds the counts of adjacent spans up in one span, which begins where the first one does. */
export function joinSpans(level: SpanLevel, spans: readonly [Span, ...Span[]]): Span {
  const [{ series, from }] = spans;
  const statuses: Record<string, number> = {};
  let n = 0;
  for (const span of spans) {
    n += span.n;
    for (const [status, rows] of Object.entries(span.statuses)) statuses[status] = (statuses[status] ?? 0) + rows;
  }
  return { series, level, from, n, statuses };
}

/** A span under change. */
export interface SpanDraft extends Span {
  n: number;
  readonly statuses: Record<string, number>;
  /** Rows that it had before the change. */
  readonly before: number;
}

/** The spans of one tree that a change reads, each level sorted by key. */
export interface SpanTree {
  readonly leaves: SpanDraft[];
  readonly groups: SpanDraft[];
  readonly roots: SpanDraft[];
}

export function treesOf(spans: readonly Span[]): Map<string, SpanTree> {
  const bySeries = Map.groupBy(spans, ({ series }) => series);
  return new Map([...bySeries].map(([series, own]) => [series, treeOf(own)]));
}

function treeOf(spans: readonly Span[]): SpanTree {
  const draftsOf = (wanted: SpanLevel): SpanDraft[] => spans.filter(({ level }) => level === wanted).map(draftOf);
  return {
    leaves: draftsOf(spanLevel.leaf).sort(compareSpans),
    groups: draftsOf(spanLevel.group).sort(compareSpans),
    roots: draftsOf(spanLevel.root),
  };
}

export function emptyTree(series: string): SpanTree {
  const empty = (level: SpanLevel) => [draftOf({ series, level, from: firstOrderKey, n: 0, statuses: {} })];
  return { leaves: empty(spanLevel.leaf), groups: empty(spanLevel.group), roots: empty(spanLevel.root) };
}

export const draftOf = (span: Span): SpanDraft => ({ ...span, statuses: { ...span.statuses }, before: span.n });

/** Sorts the spans of one level. */
export const compareSpans = (a: Span, b: Span): number => compareOrderKeys(a.from, b.from);

/** The span of a sorted level that holds a key: the last one that begins at or before it. */
export function spanHolding<T extends Span>(spans: readonly T[], key: OrderKey): T {
  const startsUpTo = (span: T | undefined): boolean => span !== undefined && compareOrderKeys(span.from, key) <= 0;
  const last = spans.at(-1);
  const found = startsUpTo(last) ? last : spans[lowerBound(spans.length, (index) => startsUpTo(spans[index])) - 1];
  if (found === undefined)
    throw new RangeError(
      `Cannot count a row: a span must begin at or before its key: current value is '${key.date} ${key.id}'`,
    );
  return found;
}

/** Begins a leaf at a key after all rows of the tree, unless its last leaf has room. */
export function beginLeafIfFull({ leaves }: SpanTree, from: OrderKey): void {
  const last = leaves.at(-1);
  if (last === undefined || last.n < leafRowsAimed) return;
  leaves.push(draftOf({ series: last.series, level: spanLevel.leaf, from, n: 0, statuses: {} }));
}

/**
 * Adds `by` rows of one status at a key, on every level. Returns the spans that changed.
 */
export function countAt(tree: SpanTree, key: OrderKey, status: string | null, by: number): readonly SpanDraft[] {
  const path = [spanHolding(tree.leaves, key), spanHolding(tree.groups, key), spanHolding(tree.roots, key)];
  for (const draft of path) {
    draft.n += by;
    if (status === null) continue;
    const rows = (draft.statuses[status] ?? 0) + by;
    if (rows === 0) delete draft.statuses[status];
    else draft.statuses[status] = rows;
  }
  return path;
}

/** Spans of one level whose order keys lie in a range; every string is an SQL expression. */
interface SpanRange {
  readonly series: string;
  readonly level: SpanLevel;
  /** The first order key of the range. */
  readonly from: string;
  /** A comparison with the upper bound of the range, such as `< ($3, $4)`. */
  readonly end: string;
}

/** Composes a statement that reads the spans of a range. */
export function spansSql({ series, level, from, end }: SpanRange, columns = spanColumns) {
  return `select ${columns} from subscription_span where tenant_id = $1 and series = ${series} and level = ${level}
      and (from_date, from_id) >= ${from} and (from_date, from_id) ${end}` as const satisfies TenantSql;
}

/**
 * How many of the indexes from 0 to `length` lie before a boundary: `isBefore` is true for all
 * indexes up to it and false from there on. Takes O(log `length`) calls.
 */
export function lowerBound(length: number, isBefore: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
