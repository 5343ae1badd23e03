import { describe, expect, test } from 'vitest';
import type { SqlValue } from '../store.ts';
import { binder, filterConditions } from '../subscription-filter.ts';
import { chooseIndex, covers, type IndexEntries, indexOfOrder, scanRanges, selectivityOfPage } from './choose-index.ts';
import { pageSql } from './page-sql.ts';

const all = 1_000_000;

describe('the index of a filter', () => {
  test.each<[string, IndexEntries, string]>([
    ['the index of createdDate without bounds', { all }, 'created_date'],
    ['the range of the only date', { all, expiration_date: 900_000 }, 'expiration_date'],
    ['the narrowest of several ranges', { all, created_date: 500, expiration_date: 400 }, 'expiration_date'],
    ['a product in its range of createdDate', { all, created_date: 500, product_id: 20 }, 'product_id'],
    ['an empty range', { all, activation_date: 0, product_id: 20 }, 'activation_date'],
    ['a rare status', { all, created_date: 21, status: 20 }, 'status'],
  ])('to count is %s', (_title, entries, index) => {
    expect(chooseIndex(entries, false)).toBe(index);
  });

  test.each<[string, IndexEntries, string]>([
    ['sorts a range of a fourth of the records', { all, expiration_date: 249_999 }, 'expiration_date'],
    ['reads in order beside a wider range', { all, expiration_date: 250_000 }, 'created_date'],
    ['reads in order within bounds that are as narrow', { created_date: 40, expiration_date: 10, all }, 'created_date'],
    ['sorts a narrower range', { created_date: 41, expiration_date: 10, all }, 'expiration_date'],
  ])('of a page in the order of createdDate %s', (_title, entries, index) => {
    expect(chooseIndex(entries, false, 'created_date')).toBe(index);
  });

  test('in the order of createdDate is that of a product, and only in this order', () => {
    const filter = { dateColumn: 'created_date', productId: 'p' } as const;
    expect([indexOfOrder(filter, 'created_date'), indexOfOrder(filter, 'expiration_date')]).toEqual([
      'product_id',
      'expiration_date',
    ]);
  });

  test('with a product is its index, unless another range is much narrower', () => {
    expect(chooseIndex({ all, product_id: 10_000, expiration_date: 1_001 }, true)).toBe('product_id');
    expect(chooseIndex({ all, product_id: 10_000, expiration_date: 999 }, true)).toBe('expiration_date');
    expect(chooseIndex({ all, expiration_date: 999 }, true, 'created_date')).toBe('expiration_date');
    expect(chooseIndex({ all, expiration_date: 999_000 }, true, 'activation_date')).toBe('expiration_date');
  });

  test('has every column but the product, which only its own index has', () => {
    expect([covers('expiration_date', false), covers('expiration_date', true)]).toEqual([true, false]);
    expect([covers('product_id', true), covers('status', true)]).toEqual([true, false]);
  });

  test('of a plan is the index of its products in the order of createdDate, at any depth', () => {
    const filter = { dateColumn: 'created_date', planId: 'a' } as const;
    const selectivity = { entries: { all, product_id: 100_000 }, products: ['p', 'q'] };
    expect(indexOfOrder(filter, 'created_date', selectivity)).toBe('product_id');
    expect(selectivityOfPage(selectivity, 'product_id', 20)).toBe(selectivity);
    expect(selectivityOfPage(selectivity, 'expiration_date', 20)).toEqual({ entries: { all } });
    expect(selectivityOfPage(selectivity, 'expiration_date', 50_000)).toBe(selectivity);
  });

  test('of a plan merges the ranges of its products, without sorting them', () => {
    const filter = {
      dateColumn: 'created_date',
      planId: 'a',
      index: 'product_id',
      indexProducts: ['p', 'q'],
    } as const;
    const values: SqlValue[] = [];
    const sql = pageSql(filter, { column: 'created_date', descending: true }, { kind: 'first' }, 20, binder(values));
    expect(sql.match(/product_id = /g)).toHaveLength(2);
    expect(sql).toMatch(/as range_0 union all select .* as range_1 order by date desc, id desc limit/s);
    expect(values).toEqual(['p', 'a', 'q', 'a', 20]);
  });

  test('has one range for each product of a plan, and for each status', () => {
    const filter = { dateColumn: 'created_date', planId: 'a', statuses: ['X', null] } as const;
    const selectivity = { entries: { all }, products: ['p', 'q'] };
    expect(scanRanges(filter, 'product_id', selectivity).map(({ productId }) => productId)).toEqual(['p', 'q']);
    expect(scanRanges(filter, 'status', selectivity).map(({ statuses }) => statuses)).toEqual([['X'], [null]]);
    expect(scanRanges(filter, 'created_date', selectivity)).toEqual([{ ...filter, index: 'created_date' }]);
  });

  test('of one subscriber leaves no other index to use', () => {
    const filter = {
      email: 'a',
      productId: 'p',
      statuses: ['X'],
      dateColumn: 'expiration_date',
      afterSeconds: 1,
    } as const;
    const values: SqlValue[] = [];
    expect(filterConditions(filter, binder(values))).toEqual([
      'email = $2',
      "product_id || '' = $3",
      "coalesce(status, ',') in ($4)",
      'expiration_date + 0 > $5',
    ]);
  });

  test('of a product is sorted in the order of another date, whose index it cannot use', () => {
    const filter = { dateColumn: 'created_date', productId: 'p', index: 'product_id' } as const;
    const byExpiration = { column: 'expiration_date', descending: true } as const;
    const orderKey = { date: 5, id: 'x' };
    const sql = pageSql(filter, byExpiration, { kind: 'beyond', orderKey }, 20, binder([]));
    expect(sql).toContain('order by expiration_date + 0 desc, id desc');
    expect(sql).toContain('(expiration_date + 0, id) < ');
    expect(pageSql(filter, { ...byExpiration, column: 'created_date' }, { kind: 'first' }, 20, binder([]))).toContain(
      'order by created_date desc, id desc',
    );
  });
});
