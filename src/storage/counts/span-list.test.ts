import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { endOrderKey } from '../order-key.ts';
import { SpanList } from './span-list.ts';

interface Leaf {
  readonly date: number;
  readonly id: string;
  readonly n: number;
  readonly statuses: Readonly<Record<string, number>>;
}

const listOf = (leaves: readonly Leaf[]): SpanList =>
  new SpanList(
    7,
    leaves.map(({ date, id, n, statuses }) => [date, id, n, JSON.stringify(statuses)].join('\t')).join('\n'),
  );

const three = listOf([
  { date: -9, id: '', n: 4, statuses: { ACTIVE: 3, EXPIRED: 1 } },
  { date: 10, id: 'b', n: 0, statuses: {} },
  { date: 10, id: 'c', n: 5, statuses: { ACTIVE: 2 } },
]);

describe('a list of leaves', () => {
  test('has the rows before each leaf, of all statuses or of some', () => {
    const rowsBefore = (statuses?: readonly string[]) =>
      [0, 1, 2, 3, 9].map((index) => three.rowsBefore(index, statuses));
    expect(rowsBefore()).toEqual([0, 4, 4, 9, 9]);
    expect(rowsBefore(['ACTIVE'])).toEqual([0, 3, 3, 5, 5]);
    expect(rowsBefore(['EXPIRED', 'ACTIVE', 'EXPIRED'])).toEqual([0, 4, 4, 6, 6]);
    expect(rowsBefore(['UNKNOWN'])).toEqual([0, 0, 0, 0, 0]);
  });

  test('holds the first row of a second in the last leaf that begins before that row', () => {
    const at = [-10, -9, 9, 10, 11].map((seconds) => three.leafAt(seconds));
    expect(at).toEqual([-1, 0, 0, 0, 2]);
  });

  test('ends each leaf where the next one begins, and the last one after every row', () => {
    expect(three.bounds(1)).toEqual({ from: { date: 10, id: 'b' }, until: { date: 10, id: 'c' } });
    expect(three.bounds(2)).toEqual({ from: { date: 10, id: 'c' }, until: endOrderKey });
  });

  test('selects the leaf of a rank, and skips leaves without rows of the statuses', () => {
    expect(three.select(4, undefined)).toMatchObject({ from: { date: 10, id: 'c' }, skip: 0, n: 5 });
    expect(three.select(2, ['ACTIVE'])).toMatchObject({ from: { date: -9, id: '' }, skip: 2, n: 3 });
    expect(three.select(3, ['ACTIVE'])).toMatchObject({ from: { date: 10, id: 'c' }, skip: 0, n: 2 });
  });

  test('selects nothing before the first rank or after the last one', () => {
    expect([three.select(-1, undefined), three.select(9, undefined), three.select(1, ['EXPIRED'])]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('is empty without leaves', () => {
    const empty = listOf([]);
    expect([empty.length, empty.rowsBefore(0, undefined), empty.leafAt(0)]).toEqual([0, 0, -1]);
    expect(empty.select(0, undefined)).toBeUndefined();
  });

  test('selects the row of each rank (property)', () => {
    const sizes = fc.array(fc.record({ active: fc.nat({ max: 3 }), others: fc.nat({ max: 3 }) }), { maxLength: 9 });
    fc.assert(
      fc.property(sizes, fc.constantFrom(undefined, ['ACTIVE']), (leaves, statuses) => {
        const list = listOf(
          leaves.map(({ active, others }, date) => ({
            date,
            id: '',
            n: active + others,
            statuses: { ACTIVE: active },
          })),
        );
        const counted = leaves.map(({ active, others }) => (statuses === undefined ? active + others : active));
        const rows = counted.flatMap((n, date) => Array.from({ length: n }, (_, skip) => ({ date, skip, n })));
        for (const [rank, { date, skip, n }] of rows.entries())
          expect(list.select(rank, statuses)).toMatchObject({ from: { date }, skip, n });
        expect(list.select(rows.length, statuses)).toBeUndefined();
      }),
    );
  });
});
