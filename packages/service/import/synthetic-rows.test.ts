import { describe, expect, test } from 'vitest';
import { checkRow } from './check-row.ts';
import { syntheticRows } from './synthetic-rows.ts';

const until = Date.parse('2026-01-01T00:00:00Z') / 1000;
const day = 86_400;
const rows = [...syntheticRows({ count: 2_000, seed: 2026, until })];
const secondsOf = (date: string): number => Date.parse(date) / 1000;
const share = (fits: (row: (typeof rows)[number]) => boolean): number => rows.filter(fits).length / rows.length;

describe('synthetic rows', () => {
  test('all satisfy the contract and have distinct ids', () => {
    expect(rows.filter((row) => 'faults' in checkRow(row))).toEqual([]);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2_000);
  });

  test('were created within the three years before `until`', () => {
    const created = rows.map((row) => secondsOf(row.createdDate));
    expect(Math.min(...created)).toBeGreaterThan(until - 3 * 366 * day);
    expect(Math.max(...created)).toBeLessThanOrEqual(until);
    expect(Math.max(...created) - Math.min(...created)).toBeGreaterThan(2.5 * 365 * day);
  });

  test('have every known status, and some have none', () => {
    for (const status of ['ACTIVE', 'DEPLETED', 'EXPIRED', 'PENDING', undefined])
      expect([status, share((row) => row.status === status) > 0]).toEqual([status, true]);
    expect(share((row) => row.status === undefined)).toBeLessThan(0.06);
  });

  test('have products of 7 days to a year, so that some end in each of the next twelve months', () => {
    expect(new Set(rows.map(({ product }) => product.period))).toEqual(new Set([365, 90, 30, 15, 7]));
    for (let month = 0; month < 12; month += 1) {
      const from = until + month * 30 * day;
      const ends = ({ expirationDate }: (typeof rows)[number]) =>
        secondsOf(expirationDate) > from && secondsOf(expirationDate) <= from + 30 * day;
      expect([month, share(ends) > 0]).toEqual([month, true]);
    }
  });

  test('become more over the years, and fewer in some months', () => {
    const monthly = Array.from({ length: 24 }, (_, month) => {
      const age = (row: (typeof rows)[number]) => (until - secondsOf(row.createdDate)) / (30 * day);
      return rows.filter((row) => Math.floor(age(row)) === month).length;
    });
    const sum = (months: readonly number[]) => months.reduce((total, count) => total + count, 0);
    expect(sum(monthly.slice(0, 12))).toBeGreaterThan(1.3 * sum(monthly.slice(12)));
    const [most = 0, dip = 0] = [Math.max(...monthly.slice(0, 6)), Math.min(...monthly.slice(0, 6))];
    expect(dip).toBeLessThan(0.7 * most);
  });

  test('have ICCIDs with a check digit (ITU-T E.118)', () => {
    for (const { iccid } of rows) {
      const sum = [...iccid]
        .toReversed()
        .map((digit, index) => Number(digit) * (1 + (index % 2)))
        .reduce((total, n) => total + (n > 9 ? n - 9 : n), 0);
      expect([iccid, sum % 10]).toEqual([iccid, 0]);
    }
  });
});
