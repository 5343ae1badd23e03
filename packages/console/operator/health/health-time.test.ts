import { expect, test } from 'vitest';
import { labelsOf, slotOf, timeOf, windowOf, wordOf } from './health-time.ts';

const end = Date.parse('2026-03-12T14:05:00Z');

test.each([
  ['hour', 61, 3_600_000, ['13:05', '13:35', '14:05 UTC'], '13:05 UTC'],
  ['day', 289, 86_400_000, ['11 Mar, 14:05', '02:05', '14:05 UTC'], '11 Mar, 14:05 UTC'],
] as const)('the window of the last %s has its whole length, whatever is known', (period, slots, ms, labels, first) => {
  const window = windowOf(period, end);
  expect(window.slots).toBe(slots);
  expect(end - timeOf(window, 0)).toBe(ms);
  expect(labelsOf(window)).toEqual(labels);
  expect(wordOf(window, timeOf(window, 0))).toBe(first);
  for (const slot of [0, 7.5, slots - 1]) expect(slotOf(window, timeOf(window, slot))).toBeCloseTo(slot);
});
