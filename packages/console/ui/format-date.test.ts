import { expect, test } from 'vitest';
import { formatDay } from './format-date.ts';

test.each([
  ['2026-03-12T23:59:59Z', '12 Mar 2026'],
  ['2026-09-01T00:00:00Z', '1 Sep 2026'],
])('the day of %s in UTC is "%s"', (time, day) => {
  expect(formatDay(new Date(time))).toBe(day);
});
