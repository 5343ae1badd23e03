import { expect, test } from 'vitest';
import { bucketUnit } from './get-subscription-summary.ts';

test('the finest dimension of time is the unit', () => {
  expect(bucketUnit(['month', 'status', 'day'])).toBe('day');
  expect(bucketUnit(['status', 'month'])).toBe('month');
  expect(bucketUnit(['status'])).toBeUndefined();
});
