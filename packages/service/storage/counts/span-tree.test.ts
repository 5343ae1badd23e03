import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstOrderKey } from '../order-key.ts';
import { countKeys } from './counted-row.ts';
import { type Span, type SpanLevel, spanLevel } from './span.ts';
import { addRows, countAt, emptyTree, lowerBound, type RowSum, spanHolding, treesOf } from './span-tree.ts';

const spanOf = (level: SpanLevel, date: number, n = 0, id = '', series = 'all'): Span => ({
  series,
  level,
  from: { date, id },
  n,
  counts: {},
});

describe('the span that holds a key', () => {
  const leaves = [spanOf(spanLevel.leaf, 0), spanOf(spanLevel.leaf, 10, 0, 'b'), spanOf(spanLevel.leaf, 10, 0, 'd')];
  test.each([
    [{ date: 0, id: '' }, 0],
    [{ date: 10, id: 'a' }, 0],
    [{ date: 10, id: 'b' }, 1],
    [{ date: 10, id: 'c' }, 1],
    [{ date: 11, id: '' }, 2],
  ])('%j is in the last span that begins at or before it', (orderKey, index) => {
    expect(spanHolding(leaves, orderKey)).toBe(leaves[index]);
  });

  test('a key before all spans is an error that names it', () => {
    expect(() => spanHolding(leaves, { date: -1, id: 'x' })).toThrow(/current value is '-1 x'/);
    expect(() => spanHolding([], { date: 0, id: '' })).toThrow(RangeError);
  });
});

test('trees have the spans of each series by level, sorted by key', () => {
  const trees = treesOf([
    spanOf(spanLevel.leaf, 5),
    spanOf(spanLevel.root, 0),
    spanOf(spanLevel.leaf, 1),
    spanOf(spanLevel.group, 1),
    spanOf(spanLevel.leaf, 3, 2, '', 'product=a'),
  ]);
  expect([...trees.keys()]).toEqual(['all', 'product=a']);
  const { leaves, groups, roots } = trees.get('all') ?? emptyTree('all');
  expect([leaves, groups, roots].map((spans) => spans.map(({ from }) => from.date))).toEqual([[1, 5], [1], [0]]);
  expect(trees.get('product=a')?.leaves).toMatchObject([{ n: 2, before: 2 }]);
});

function sumOf(keys: readonly string[], by: number): RowSum {
  const sum: RowSum = { n: 0, counts: {} };
  addRows(sum, keys, by);
  return sum;
}

describe('counting a row', () => {
  test('changes the leaf, the group and the root that hold its key, and no other span', () => {
    const trees = treesOf([
      spanOf(spanLevel.leaf, 0, 2),
      spanOf(spanLevel.leaf, 10, 3),
      spanOf(spanLevel.group, 0, 5),
      spanOf(spanLevel.root, 0, 5),
    ]);
    const tree = trees.get('all') ?? emptyTree('all');
    const changed = countAt(tree, { date: 12, id: 'a' }, sumOf(['ACTIVE', 'ACTIVE+', '+'], 1));
    expect(changed).toEqual([tree.leaves[1], tree.groups[0], tree.roots[0]]);
    expect(changed).toMatchObject([
      { n: 4, counts: { ACTIVE: 1, 'ACTIVE+': 1, '+': 1 }, before: 3 },
      { n: 6, counts: { ACTIVE: 1 } },
      { n: 6, counts: { ACTIVE: 1 } },
    ]);
    expect(tree.leaves[0]).toMatchObject({ n: 2, counts: {} });
  });

  test('without a status has a key of its own', () => {
    const tree = emptyTree('all');
    countAt(tree, firstOrderKey, sumOf(countKeys('all', { status: null, autoRenew: 'false', planId: 'p' }), 1));
    expect(tree.roots).toMatchObject([{ n: 1, counts: { none: 1 } }]);
  });

  test('drops a status whose last row is gone', () => {
    const tree = emptyTree('all');
    for (const by of [1, -1]) countAt(tree, firstOrderKey, sumOf(['ACTIVE'], by));
    expect(tree.leaves[0]).toMatchObject({ n: 0, counts: {} });
    expect(tree.leaves[0]?.counts).not.toHaveProperty('ACTIVE');
  });
});

test('lowerBound finds the boundary of every sorted list (property)', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.integer({ min: -1, max: 21 }), (numbers, wanted) => {
      const sorted = numbers.toSorted((a, b) => a - b);
      expect(lowerBound(sorted.length, (index) => (sorted[index] as number) < wanted)).toBe(
        sorted.filter((n) => n < wanted).length,
      );
    }),
  );
});
