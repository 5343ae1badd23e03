import { expect, test } from 'vitest';
import { beforeDay, dayAfter, daysUntil, dayUntil, endOfDay } from '../zone/day-bounds.ts';
import { createdPresets, presetOf, presetRange } from './presets.ts';

const now = new Date('2026-03-31T23:30:00Z');

test.each([
  ['today', '2026-03-31', '2026-04-01'],
  ['yesterday', '2026-03-30', '2026-03-31'],
  ['last7', '2026-03-25', '2026-04-01'],
  ['last30', '2026-03-02', '2026-04-01'],
  ['thisMonth', '2026-03-01', '2026-04-01'],
  ['lastMonth', '2026-02-01', '2026-03-01'],
  ['thisQuarter', '2026-01-01', '2026-04-01'],
  ['lastQuarter', '2025-10-01', '2026-01-01'],
  ['last12Months', '2025-04-01', '2026-04-01'],
] as const)('the preset %s is whole days in UTC', (preset, from, to) => {
  expect(presetRange(preset, now)).toEqual({ from: `${from}T00:00:00Z`, to: `${to}T00:00:00Z` });
});

test('a range is named by its preset only while that preset is this range', () => {
  for (const preset of createdPresets) {
    const { from, to } = presetRange(preset, now);
    const state = { filters: { 'created-from': from, 'created-to': to }, days: {} };
    expect(presetOf(state, now)).toBe(preset);
    expect(presetOf(state, new Date('2026-09-02T00:00:00Z'))).toBeUndefined();
  }
});

test.each([
  ['this-month', 'next-month', 'thisMonth'],
  ['2026-11-01', '2026-12-01', 'last30'],
  ['this-month', 'tomorrow', undefined],
])('on the last day of a month of 30 days, a link from %s to %s is named %s', (from, to, preset) => {
  const filters = { 'created-from': '2026-11-01T00:00:00Z', 'created-to': '2026-12-01T00:00:00Z' };
  const days = { 'created-from': from, 'created-to': to };
  expect(presetOf({ filters, days }, new Date('2026-11-30T10:20:00Z'))).toBe(preset);
});

test('the last day of a range is included', () => {
  expect(endOfDay('2026-02-28')).toBe('2026-03-01T00:00:00Z');
  expect(dayUntil('2026-03-01T00:00:00Z')).toBe('2026-02-28');
  expect(dayUntil('2026-03-01T00:00:01Z')).toBeUndefined();
});

test('an exclusive bound one second before a day includes the whole day', () => {
  expect(beforeDay('2026-03-01')).toBe('2026-02-28T23:59:59Z');
  expect(dayAfter('2026-02-28T23:59:59Z')).toBe('2026-03-01');
  expect(dayAfter('2026-03-01T00:00:00Z')).toBeUndefined();
});

test.each([
  ['2026-03-31T00:00:01Z', 0],
  ['2026-04-01T00:00:00Z', 1],
  ['2026-03-30T23:59:59Z', -1],
  ['2026-05-30T12:00:00Z', 60],
])('%s is %d calendar days from now', (instant, days) => {
  expect(daysUntil(instant, now.getTime())).toBe(days);
});
