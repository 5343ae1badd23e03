import { lowerBound } from '../lower-bound.ts';
import { compareOrderKeys, firstOrderKey, type OrderKey } from '../order-key.ts';
import { leafRowsAimed, type Span, type SpanLevel, spanLevel } from './span.ts';

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

/** Spans as trees, by series. */
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

/** The tree of a series without rows. */
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
