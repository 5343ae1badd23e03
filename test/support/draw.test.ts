import { expect, test } from 'vitest';
import { createDraw } from './draw.ts';

const rows = [0, 1, 2, 3, 4, 5, 6];
const columns = ['a', 'b', 'c'];
const urlOf = (name: string): string => `file:///tests/${name}.test.ts`;

test.each([0, 1, 2, 268_435_455])('seed %i draws pairs with each row and each column', (seed) => {
  const { drawPairs } = createDraw(seed, false);
  for (const pairs of [drawPairs(rows, columns), drawPairs(columns, rows).map(([one, other]) => [other, one])]) {
    expect(pairs).toHaveLength(rows.length);
    expect(new Set(pairs.map(([row]) => row))).toEqual(new Set(rows));
    expect(new Set(pairs.map(([, column]) => column))).toEqual(new Set(columns));
  }
});

test('successive seeds draw every pair, and every value for each file', () => {
  const draws = [7, 8, 9].map((seed) => createDraw(seed, false));
  expect(new Set(draws.flatMap(({ drawPairs }) => drawPairs(rows, columns).map(String))).size).toBe(21);
  expect(draws.flatMap(({ drawOne }) => drawOne(columns, urlOf('a'))).sort()).toEqual(columns);
  for (const { drawOne } of draws) expect(drawOne(columns, urlOf('a'))).not.toEqual(drawOne(columns, urlOf('b')));
});

test('successive seeds draw every part of some values', () => {
  const draws = [7, 8, 9].map((seed) => createDraw(seed, false));
  expect(draws.flatMap(({ drawPart }) => drawPart(rows, 3)).sort()).toEqual(rows);
  for (const { drawPart } of draws) {
    expect(drawPart(rows, 3).length).toBeLessThan(4);
    expect([drawPart(['a'], 3), drawPart([], 3)]).toEqual([['a'], []]);
  }
});

test('the whole matrix has every pair', () => {
  const { drawOne, drawPairs, drawPart } = createDraw(5, true);
  expect(drawPart(rows, 3)).toEqual(rows);
  expect(drawPairs(rows, columns)).toHaveLength(21);
  expect(drawOne(columns, urlOf('a'))).toEqual(columns);
});
