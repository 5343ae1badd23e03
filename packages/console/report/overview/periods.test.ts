import { expect, test } from 'vitest';
import { createdBounds, endedWithin, endsWithin, lastDays, lastMonths, nextDays } from './periods.ts';

const now = new Date('2026-01-31T23:30:15.750Z');

test('the last months end with the month of now, in UTC, and cross the year', () => {
  expect(lastMonths(now, 3)).toEqual(['2025-11', '2025-12', '2026-01']);
});

test('the filter of adjacent periods has no gap and no overlap', () => {
  expect(createdBounds(lastMonths(now, 24))).toEqual({
    'created-from': '2024-02-01T00:00:00Z',
    'created-to': '2026-02-01T00:00:00Z',
  });
  expect(createdBounds(['2026-01-31'])).toEqual({
    'created-from': '2026-01-31T00:00:00Z',
    'created-to': '2026-02-01T00:00:00Z',
  });
});

test('the last days are whole and end yesterday, the next ones begin and end with a day in part, in UTC', () => {
  expect(lastDays(now, 2)).toEqual(['2026-01-29', '2026-01-30']);
  expect(nextDays(now, 2)).toEqual(['2026-01-31', '2026-02-01', '2026-02-02']);
});

test('what ends within some days ends after now and, as expires-within, also in the last second', () => {
  const [after, before] = ['2026-01-31T23:30:15Z', '2026-02-02T23:30:16Z'];
  expect(endsWithin(now, 2, true)).toEqual({ 'date-field': 'expiration', after, before });
  expect(endedWithin(new Date('2026-02-02T23:30:15Z'), 2)).toEqual(endsWithin(now, 2, true));
});
