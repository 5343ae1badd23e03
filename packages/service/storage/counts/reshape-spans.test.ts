import { describe, expect, test } from 'vitest';
import { firstOrderKey } from '../order-key.ts';
import type { Row } from '../store.ts';
import { type CountRequest, SpanEdit } from './count-work.ts';
import { reshapeSpans } from './reshape-spans.ts';
import { leafRowsAimed, type Span, type SpanLevel, spanLevel } from './span.ts';
import {
  draftOf,
  groupLeavesAimed,
  groupLeavesMax,
  joinSpans,
  leafRowsMax,
  leafRowsMin,
  type SpanTree,
} from './span-tree.ts';

/** The first span of a level begins before every row, the others at a date. */
const spanOf = (level: SpanLevel, index: number, n: number): Span => ({
  series: 'all',
  level,
  from: index === 0 ? firstOrderKey : { date: index, id: '' },
  n,
  counts: { ACTIVE: n },
});
const leafOf = (index: number, n: number): Span => spanOf(spanLevel.leaf, index, n);

const rowOf = ({ series, level, from, n, counts }: Span): Row => ({
  series,
  level,
  from_date: from.date,
  from_id: from.id,
  n,
  counts: JSON.stringify(counts),
});

/** A tree of one group. `changed` are leaves with the rows that they have now and had before. */
function treeOf(leaves: readonly Span[], changed: readonly (readonly [index: number, before: number])[]): SpanTree {
  const [first, ...others] = leaves as [Span, ...Span[]];
  const sumOf = (level: SpanLevel) => draftOf({ ...joinSpans(level, [first, ...others]) });
  return {
    leaves: changed.map(([index, before]) => ({ ...draftOf(leaves[index] as Span), before })),
    groups: [sumOf(spanLevel.group)],
    roots: [sumOf(spanLevel.root)],
  };
}

/** The spans that reshaping writes and removes, for these leaves and cuts. */
function reshape(tree: SpanTree, stored: readonly Span[], pieces: readonly Row[] = []) {
  const edit = new SpanEdit();
  const requests: CountRequest[] = [];
  const work = reshapeSpans(edit, new Map([['all', tree]]));
  for (let step = work.next(); step.done !== true; ) {
    requests.push(...step.value);
    step = work.next(
      step.value.map((request) =>
        request.kind === 'run' && request.sql.includes('as piece') ? pieces : stored.map(rowOf),
      ),
    );
  }
  const { put, remove } = edit.toRequest() as CountRequest & { kind: 'write' };
  const ofLevel = (wanted: SpanLevel) => put.filter(({ level }) => level === wanted);
  return { requests, leaves: ofLevel(spanLevel.leaf), groups: ofLevel(spanLevel.group), remove };
}

describe('reshaping a tree', () => {
  test('asks for nothing while all leaves keep their bounds', () => {
    const leaves = [leafOf(0, leafRowsMax), leafOf(1, leafRowsMin)];
    const tree = treeOf(leaves, [
      [0, leafRowsMax - 1],
      [1, leafRowsMin + 1],
    ]);
    expect(reshape(tree, leaves)).toEqual({ requests: [], leaves: [], groups: [], remove: [] });
  });

  test('splits a leaf of more than 500 rows at the first keys of its pieces, and reads one row of the last', () => {
    const counts = { ACTIVE: 430, EXPIRED: 51, none: 20 };
    const leaves = [{ ...leafOf(0, leafRowsMax + 1), counts }];
    const pieces: Row[] = [
      { piece: 0, status: 'ACTIVE', n: 200, from_date: 3, from_id: 'a' },
      { piece: 1, status: null, n: 1, from_date: 7, from_id: 'b' },
      { piece: 0, status: 'EXPIRED', n: 51, from_date: null, from_id: null },
    ];
    const result = reshape(treeOf(leaves, [[0, leafRowsMax]]), leaves, pieces);
    const [, cut] = result.requests;
    expect(cut).toMatchObject({ values: [firstOrderKey.date, '', 252, 251] });
    expect(result.leaves).toEqual([
      { ...leafOf(0, 251), counts: { ACTIVE: 200, EXPIRED: 51 } },
      { ...leafOf(0, 250), from: { date: 7, id: 'b' }, counts: { ACTIVE: 230, none: 20 } },
    ]);
    expect(result.groups).toMatchObject([{ n: 501, counts }]);
  });

  test('merges a leaf that shrank below 60 rows with the one before it', () => {
    const leaves = [leafOf(0, 100), leafOf(1, leafRowsMin - 1), leafOf(2, leafRowsMax)];
    const { leaves: put, groups, remove } = reshape(treeOf(leaves, [[1, leafRowsMin]]), leaves);
    expect(put).toEqual([leafOf(0, 100 + leafRowsMin - 1)]);
    expect(remove).toMatchObject([{ level: spanLevel.leaf, from: { date: 1 } }]);
    expect(groups).toMatchObject([{ n: 100 + leafRowsMin - 1 + leafRowsMax }]);
  });

  test('leaves a small leaf alone when it does not fit into one with a neighbour', () => {
    const leaves = [leafOf(0, leafRowsAimed), leafOf(1, 1), leafOf(2, leafRowsAimed)];
    const { leaves: put, remove } = reshape(treeOf(leaves, [[1, 2]]), leaves);
    expect([put, remove]).toEqual([[], []]);
  });

  test('does not touch a small leaf that grew', () => {
    const leaves = [leafOf(0, 100), leafOf(1, 2)];
    expect(reshape(treeOf(leaves, [[1, 1]]), leaves).requests).toEqual([]);
  });

  test('splits a group of more than 64 leaves into even groups of at most 40', () => {
    const stored = Array.from({ length: groupLeavesMax + 2 }, (_, index) => leafOf(index, leafRowsAimed));
    // the last leaf does not fit into the one before it
    const leaves = [...stored.slice(0, -1), leafOf(groupLeavesMax + 1, 1)];
    const { groups } = reshape(treeOf(leaves, [[groupLeavesMax + 1, leafRowsAimed]]), leaves);
    const [first, second] = groups;
    expect(groups).toHaveLength(2);
    expect([first?.from, second?.from.date]).toEqual([firstOrderKey, 33]);
    expect([first?.n, second?.n]).toEqual([33 * leafRowsAimed, 32 * leafRowsAimed + 1]);
    expect(33).toBeLessThanOrEqual(groupLeavesAimed);
  });

  test('keeps a group of 64 leaves', () => {
    const leaves = Array.from({ length: groupLeavesMax }, (_, index) => leafOf(index, index === 9 ? 1 : leafRowsAimed));
    expect(reshape(treeOf(leaves, [[9, 2]]), leaves).groups).toHaveLength(1);
  });

  test('removes an empty group, unless it is the first one', () => {
    const [first, second] = [leafOf(0, 0), leafOf(5, 0)];
    const group = (leaf: Span) => draftOf({ ...leaf, level: spanLevel.group });
    const roots = [draftOf(spanOf(spanLevel.root, 0, 9))];
    const changed = (leaf: Span) => ({ ...draftOf(leaf), before: 1 });
    const emptied = { leaves: [changed(second)], groups: [group(first), group(second)], roots };
    const { groups, remove } = reshape(emptied, [second]);
    expect(groups).toEqual([]);
    expect(remove.map(({ level, from }) => [level, from.date])).toEqual([
      [spanLevel.group, 5],
      [spanLevel.leaf, 5],
    ]);
    const kept = reshape({ leaves: [changed(first)], groups: [group(first)], roots }, [first]);
    expect([kept.groups.length, kept.remove]).toEqual([1, []]);
  });

  test('removes all spans of a tree without rows', () => {
    const leaves = [leafOf(0, 0), leafOf(1, 0)];
    const { remove, groups } = reshape(treeOf(leaves, [[0, 1]]), leaves);
    expect(groups).toEqual([]);
    expect(remove.map(({ level }) => level).sort()).toEqual([0, 0, 1, 2]);
  });
});
