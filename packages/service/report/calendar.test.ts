import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatBucket, units } from './calendar.ts';

const second = (text: string): number => Date.parse(text) / 1000;
/** Seconds of the years 1 to 9998, so that the following bucket is one too. */
const seconds = fc.integer({ min: second('0001-01-01T00:00:00Z'), max: second('9998-12-31T23:59:59Z') });

test.each([
  ['day', '2024-02-29T23:59:59Z', '2024-02-29', '2024-03-01'],
  ['month', '2024-02-29T23:59:59Z', '2024-02', '2024-03'],
  ['month', '2024-12-31T00:00:00Z', '2024-12', '2025-01'],
  ['day', '1969-12-31T23:59:59Z', '1969-12-31', '1970-01-01'],
  ['month', '0001-01-15T00:00:00Z', '0001-01', '0001-02'],
  ['month', '0099-12-15T00:00:00Z', '0099-12', '0100-01'],
] as const)('the %s of %s is %s, followed by %s', (unit, text, own, following) => {
  const start = units[unit].startOf(second(text));
  expect(formatBucket(unit, start)).toBe(own);
  expect(formatBucket(unit, units[unit].next(start))).toBe(following);
});

describe.each(['day', 'month'] as const)('every second lies in its %s', (unit) => {
  test('from its start, inclusive, to the start of the following one, exclusive (property)', () => {
    fc.assert(
      fc.property(seconds, (each) => {
        const start = units[unit].startOf(each);
        const end = units[unit].next(start);
        expect(start <= each && each < end).toBe(true);
        expect([units[unit].startOf(start), units[unit].startOf(end - 1)]).toEqual([start, start]);
        expect(units[unit].startOf(end)).toBe(end);
      }),
    );
  });
});
