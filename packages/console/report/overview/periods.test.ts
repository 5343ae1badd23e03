import { describe, expect, test } from 'vitest';
import { createdBounds, endedWithin, endsWithin, lastDays, lastMonths, nextDays } from './periods.ts';

const now = new Date('2026-01-31T23:30:15.750Z');

describe('lastMonths', () => {
  test('ends with the month of now, in UTC, and crosses the year', () => {
    expect(lastMonths(now, 3)).toEqual([
      { value: '2025-11', from: '2025-11-01T00:00:00Z', to: '2025-12-01T00:00:00Z' },
      { value: '2025-12', from: '2025-12-01T00:00:00Z', to: '2026-01-01T00:00:00Z' },
      { value: '2026-01', from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' },
    ]);
  });

  test('selects adjacent months without a gap or an overlap', () => {
    const months = lastMonths(now, 24);
    expect(months.slice(1).map(({ from }) => from)).toEqual(months.slice(0, -1).map(({ to }) => to));
    expect(createdBounds(months)).toEqual({
      'created-from': '2024-02-01T00:00:00Z',
      'created-to': '2026-02-01T00:00:00Z',
    });
  });
});

test('the last days are whole and end yesterday, in UTC', () => {
  expect(lastDays(now, 2)).toEqual([
    { value: '2026-01-29', from: '2026-01-29T00:00:00Z', to: '2026-01-30T00:00:00Z' },
    { value: '2026-01-30', from: '2026-01-30T00:00:00Z', to: '2026-01-31T00:00:00Z' },
  ]);
});

test('the next days begin and end with a day in part, in UTC', () => {
  expect(nextDays(now, 2).map(({ value }) => value)).toEqual(['2026-01-31', '2026-02-01', '2026-02-02']);
});

test('what ends within some days ends after now and, as expires-within, also in the last second', () => {
  const [after, before] = ['2026-01-31T23:30:15Z', '2026-02-02T23:30:16Z'];
  expect(endsWithin(now, 2, true)).toEqual({ 'date-field': 'expiration', after, before });
  expect(endedWithin(new Date('2026-02-02T23:30:15Z'), 2)).toEqual(endsWithin(now, 2, true));
});
