import { expect, test } from 'vitest';
import { formatShare } from './format-count.ts';

test.each([
  [0, '0%'],
  [1 / 100_000, '<0.1%'],
  [0.0005, '0.1%'],
  [0.352, '35.2%'],
  [0.9994, '99.9%'],
  [99_999 / 100_000, '>99.9%'],
  [1, '100%'],
])('the share %d is %s', (share, text) => {
  expect(formatShare(share)).toBe(text);
});
