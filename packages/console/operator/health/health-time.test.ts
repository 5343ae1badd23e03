import { expect, test } from 'vitest';
import { nearestSlot, placeOf } from '../../charts/slot-places.ts';
import { labelsOf, placeAt, timeOf, windowOf, wordOf } from './health-time.ts';

const end = Date.parse('2026-03-12T14:05:00Z');

test.each([
  ['hour', 61, 3_600_000, ['13:05', '13:35', '14:05 UTC'], '13:05 UTC'],
  ['day', 289, 86_400_000, ['11 Mar, 14:05', '02:05', '14:05 UTC'], '11 Mar, 14:05 UTC'],
] as const)('the window of the last %s has its whole length, whatever is known', (period, slots, ms, labels, first) => {
  const window = windowOf(period, end, ms / (slots - 1) / 1000);
  expect(window.slots).toBe(slots);
  expect(end - timeOf(window, 0)).toBe(ms);
  expect(labelsOf(window)).toEqual(labels);
  expect(wordOf(window, timeOf(window, 0))).toBe(first);
  for (const slot of [0, 7.5, slots - 1]) expect(placeAt(window, timeOf(window, slot))).toBeCloseTo(slot);
});

test.each([0, 1, 15, 45, 60, 61])('a last value of %i seconds is as far from the one before', (seconds) => {
  const window = windowOf('hour', end, seconds);
  const times = [57, 58, 59, 60].map((slot) => (timeOf(window, slot) - end) / 1000);
  const last = Math.min(seconds, 60);
  expect(times).toEqual([-last - 120, -last - 60, 0 - last, 0].map((time) => expect.closeTo(time)));
  const slots = last === 0 ? [0, 30, 58, 60] : [0, 30, 58, 59, 60];
  for (const slot of slots) expect(nearestSlot(window, placeOf(window, slot))).toBe(slot);
});
