import { describe, expect, test } from 'vitest';
import { choosePath, covers, orderPath, type Widths } from './path.ts';

const all = 1_000_000;

describe('the path of a filter', () => {
  test.each<[string, Widths, string]>([
    ['the index of createdDate without bounds', { all }, 'created_date'],
    ['the range of the only date', { all, expiration_date: 900_000 }, 'expiration_date'],
    ['the narrowest of several ranges', { all, created_date: 500, expiration_date: 400 }, 'expiration_date'],
    ['a product in its range of createdDate', { all, created_date: 500, product_id: 20 }, 'product_id'],
    ['an empty range', { all, activation_date: 0, product_id: 20 }, 'activation_date'],
  ])('to count is %s', (_title, widths, path) => {
    expect(choosePath(widths)).toBe(path);
  });

  test.each<[string, Widths, string]>([
    ['sorts a range of a fourth of the records', { all, expiration_date: 249_999 }, 'expiration_date'],
    ['reads in order beside a wider range', { all, expiration_date: 250_000 }, 'created_date'],
    ['reads in order within bounds that are as narrow', { created_date: 40, expiration_date: 10, all }, 'created_date'],
    ['sorts a narrower range', { created_date: 41, expiration_date: 10, all }, 'expiration_date'],
  ])('of a page in the order of createdDate %s', (_title, widths, path) => {
    expect(choosePath(widths, 'created_date')).toBe(path);
  });

  test('in the order of createdDate is that of a product, and only in this order', () => {
    const filter = { dateColumn: 'created_date', productId: 'p' } as const;
    expect([orderPath(filter, 'created_date'), orderPath(filter, 'expiration_date')]).toEqual([
      'product_id',
      'expiration_date',
    ]);
  });

  test('has every column but the product, which only its own index has', () => {
    const filter = { dateColumn: 'created_date', planId: 'a', autoRenew: 'true' } as const;
    expect(covers('expiration_date', filter, ['status', 'plan_id', 'day'])).toBe(true);
    expect(covers('expiration_date', filter, ['product_id'])).toBe(false);
    expect(covers('created_date', { ...filter, productId: 'p' }, [])).toBe(false);
    expect(covers('product_id', { ...filter, productId: 'p' }, ['product_id'])).toBe(true);
  });
});
