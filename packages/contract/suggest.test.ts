import { expect, test } from 'vitest';
import { didYouMean, suggest } from './suggest.ts';

const names = ['iccid', 'email', 'product-id', 'status', 'before', 'after', 'size', 'page'];

test.each([
  ['productid', 'product-id'],
  ['product_id', 'product-id'],
  ['SIZE', 'size'],
  ['size[]', 'size'],
  ['pge', 'page'],
  ['icccid', 'iccid'],
  ['stauts', 'status'],
  ['befor', 'before'],
])('%s was probably %s', (given, meant) => {
  expect(suggest(given, names)).toBe(meant);
  expect(didYouMean(given, names)).toBe(`; did you mean '${meant}'?`);
});

test.each(['foo', 'created', '', 'x'.repeat(10_000)])('%j is near to none', (given) => {
  expect(suggest(given, names)).toBeUndefined();
  expect(didYouMean(given, names)).toBe('');
});

test('a name is compared with the first 1,000 known names only', () => {
  const many = Array.from({ length: 1_000 }, (_, n) => `tenant-${n}`);
  expect(suggest('acmee', [...many.slice(1), 'acme'])).toBe('acme');
  expect(suggest('acmee', [...many, 'acme'])).toBeUndefined();
});
