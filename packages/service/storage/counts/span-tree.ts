import { compareOrderKeys, firstOrderKey, type OrderKey } from '../order-key.ts';
import { leafRowsAimed, type Span, type SpanLevel, spanLevel } from './span.ts';

// A tree under change: spans that a change has read and will write, if they differ.

/** A leaf with more rows is split. The sizes were measured: docs/decisions/counts.md#counts. */
export const leafRowsMax = 500;
/** A leaf that shrinks below this is merged with a neighbour, if both fit into one. */
export const leafRowsMin = 60;
/** A group with more leaves is split. */
export const groupLeavesMax = 64;
export const groupLeavesAimed = 40;

/** Adds the counts of adjacent spans up in one span, which begins where the first one does. */
export function joinSpans(level: SpanLevel, spans: readonly [Span, ...Span[]]): Span {
  const [{ series, from }] = spans;
  const counts: Record<string, number> = {};
  let n = 0;
  for (const span of spans) {
    n += span.n;
    for (const [key, rows] of Object.entries(span.counts)) counts[key] = (counts[key] ?? 0) + rows;
  }
  return { series, level, from, n, counts };
}

/** A span under change. */
export interface SpanDraft extends Span {
  n: number;
  readonly counts: Record<string, number>;
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
  const empty = (level: SpanLevel) => [draftOf({ series, level, from: firstOrderKey, n: 0, counts: {} })];
  return { leaves: empty(spanLevel.leaf), groups: empty(spanLevel.group), roots: empty(spanLevel.root) };
}

export const draftOf = (span: Span): SpanDraft => ({ ...span, counts: { ...span.counts }, before: span.n });

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

/**
 * Begins a leaf at a key after all rows of the tree, unless its last leaf has room beside the rows
 * that `sums` adds to it.
 */
export function beginLeafIfFull({ leaves }: SpanTree, from: OrderKey, sums: ReadonlyMap<SpanDraft, RowSum>): void {
  const last = leaves.at(-1);
  if (last === undefined || last.n + (sums.get(last)?.n ?? 0) < leafRowsAimed) return;
  leaves.push(draftOf({ series: last.series, level: spanLevel.leaf, from, n: 0, counts: {} }));
}

/** Rows to add to spans, or to subtract: the sum of them all, and by `countKeys`. */
export interface RowSum {
  n: number;
  readonly counts: Record<string, number>;
}

/** Adds `by` rows with the same `countKeys` to a sum. */
export function addRows(sum: RowSum, keys: readonly string[], by: number): void {
  sum.n += by;
  for (const key of keys) addCount(sum.counts, key, by);
}

/** Adds rows at a key, on every level. Returns the changed spans. */
export function countAt(tree: SpanTree, at: OrderKey, { n, counts }: RowSum): readonly SpanDraft[] {
  const path = [spanHolding(tree.leaves, at), spanHolding(tree.groups, at), spanHolding(tree.roots, at)];
  for (const draft of path) {
    draft.n += n;
    for (const key in counts) addCount(draft.counts, key, counts[key] ?? 0);
  }
  return path;
}

/** Adds to a count; one that becomes 0 is removed. */
export function addCount(counts: Record<string, number>, key: string, by: number): void {
  const rows = (counts[key] ?? 0) + by;
  if (rows === 0) delete counts[key];
  else counts[key] = rows;
}

/**
 * Number of indexes from 0 to `length` before a boundary: `isBefore` is true for all indexes up to
 * it and false from there on. Takes O(log `length`) calls.
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
