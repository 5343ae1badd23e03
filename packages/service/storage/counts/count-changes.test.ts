import { expect, test } from 'vitest';
import { firstOrderKey, type OrderKey } from '../order-key.ts';
import type { Row } from '../store.ts';
import { countChanges } from './count-changes.ts';
import type { CountRequest } from './count-work.ts';
import { type Span, spanLevel } from './span.ts';
import { leafRowsMax } from './span-tree.ts';

/** The tree of a series with 300 rows, all at date 1. */
const stored = (series: string): Row[] =>
  Object.values(spanLevel).map((level) => ({
    ...{ series, level, from_date: firstOrderKey.date, from_id: '', n: 300 },
    counts: '{"ACTIVE":300}',
  }));

const inserted = Array.from({ length: 1_000 }, (_, index) => ({
  after: {
    id: `${index}`,
    ...{ createdDate: 2 + index, activationDate: 2 + index, expirationDate: 2 + index },
    ...{ productId: 'a', status: 'ACTIVE', autoRenew: 'false', planId: 'p' },
  },
}));

/** Counts the inserted rows, and returns the requests and the written leaves. */
function count(storedLast?: OrderKey) {
  const requests: CountRequest[] = [];
  const work = countChanges(inserted, storedLast);
  let step = work.next();
  while (step.done !== true) {
    requests.push(...step.value);
    step = work.next(
      step.value.map((request) =>
        request.kind === 'locate'
          ? [...stored('all'), ...stored('product=a')]
          : request.kind === 'run' && !request.sql.includes('as piece')
            ? stored(String(request.values[0])).slice(0, 1)
            : [],
      ),
    );
  }
  requests.push(...step.value);
  const put = requests.flatMap((request): readonly Span[] => (request.kind === 'write' ? request.put : []));
  return { requests, leaves: put.filter(({ level }) => level === spanLevel.leaf) };
}

const readsRows = (requests: readonly CountRequest[]): boolean =>
  requests.some(
    (request) =>
      request.kind === 'run' && request.sql.includes('as piece') && request.sql.includes('created_date as date'),
  );

test('rows after all stored ones are counted in new leaves without reading rows', () => {
  const { requests, leaves } = count({ date: 1, id: 'z' });
  expect(readsRows(requests)).toBe(false);
  const sum = (series: string) =>
    leaves.filter((leaf) => leaf.series === series).reduce((total, { n }) => total + n, 0);
  expect([sum('all'), sum('product=a')]).toEqual([1_300, 1_300]);
  expect(Math.max(...leaves.map(({ n }) => n))).toBeLessThanOrEqual(leafRowsMax);
  expect(leaves.map(({ from }) => from)).toContainEqual({ date: 52, id: '50' });
});

test('a leaf into which rows are inserted among stored ones is split at the keys of its rows, which are read', () => {
  expect(readsRows(count({ date: 1_500, id: 'z' }).requests)).toBe(true);
  expect(readsRows(count().requests)).toBe(true);
});
