import { compareKeys, firstKey, type OrderKey } from '../order-key.ts';
import type { Span, SpanLevel } from './span.ts';

/** A span under change. */
export interface SpanDraft extends Span {
  n: number;
  readonly statuses: Record<string, number>;
  /** Rows that it had before the change. */
  readonly before: number;
}

/**
 * The spans of one series that a change concerns, those of each level in the order of their keys.
 */
export type SpanTree = Readonly<Record<SpanLevel, SpanDraft[]>>;

/** The trees of some spans by their series. */
export function treesOf(spans: readonly Span[]): Map<string, SpanTree> {
  const trees = new Map<string, SpanTree>();
  for (const span of spans) {
    const tree = trees.get(span.series) ?? { 0: [], 1: [], 2: [] };
    trees.set(span.series, tree);
    tree[span.level].push(draftOf(span));
  }
  for (const tree of trees.values())
    for (const drafts of [tree[0], tree[1]]) drafts.sort((a, b) => compareKeys(a.from, b.from));
  return trees;
}

/** The tree of a series that has no row yet. */
export function emptyTree(series: string): SpanTree {
  const empty = (level: SpanLevel) => [draftOf({ series, level, from: firstKey, n: 0, statuses: {} })];
  return { 0: empty(0), 1: empty(1), 2: empty(2) };
}

/** A span to change. */
export const draftOf = (span: Span): SpanDraft => ({ ...span, statuses: { ...span.statuses }, before: span.n });

/** The span of a sorted list that holds a key: the last one that begins at or before it. */
export function spanAt<T extends Span>(spans: readonly T[], key: OrderKey): T {
  let low = 0;
  for (let high = spans.length; high - low > 1; ) {
    const middle = (low + high) >> 1;
    if (compareKeys((spans[middle] as T).from, key) <= 0) low = middle;
    else high = middle;
  }
  const found = spans[low];
  if (found === undefined || compareKeys(found.from, key) > 0)
    throw new RangeError(
      `Cannot count a row: a span must begin at or before its key: current value is '${key.date} ${key.id}'`,
    );
  return found;
}

/** Counts `by` rows more of one status at a key, on every level; the spans that changed. */
export function countAt(tree: SpanTree, key: OrderKey, status: string | null, by: number): readonly SpanDraft[] {
  const drafts = [spanAt(tree[0], key), spanAt(tree[1], key), spanAt(tree[2], key)];
  for (const draft of drafts) {
    draft.n += by;
    if (status === null) continue;
    const rows = (draft.statuses[status] ?? 0) + by;
    if (rows === 0) delete draft.statuses[status];
    else draft.statuses[status] = rows;
  }
  return drafts;
}
