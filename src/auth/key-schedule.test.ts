import { expect, test } from 'vitest';
import { keyLeadSeconds, keySetSeconds, scheduleKeys } from './key-schedule.ts';

const lifetimes = { access: 300, refresh: 3_600 };
/** Allowed clock difference in seconds. */
const tolerance = 60;

/** The states of access keys that become active at these times, newest first. */
const statesOf = (activeFrom: readonly number[], now: number) =>
  scheduleKeys(
    activeFrom.map((activatesAt) => ({ purpose: 'access' as const, activatesAt })),
    lifetimes,
    now,
  ).map(({ state }) => state);

test('a key is published for longer than a key set may be cached before it is used', () => {
  expect(keyLeadSeconds).toBeGreaterThan(keySetSeconds);
});

test('the only key is current, even if it becomes active later by this clock', () => {
  expect([statesOf([1_000], 1_000), statesOf([1_000], 999)]).toEqual([['current'], ['current']]);
});

test('a newer key is next until the second at which it becomes active', () => {
  expect(statesOf([2_000, 1_000], 1_999)).toEqual(['next', 'current']);
  expect(statesOf([2_000, 1_000], 2_000)).toEqual(['current', 'retiring']);
});

test('a replaced key is retiring until its last token has expired on every clock, then dead', () => {
  const lastSecond = 2_000 + lifetimes.access + tolerance;
  expect(statesOf([2_000, 1_000], lastSecond - 1)).toEqual(['current', 'retiring']);
  expect(statesOf([2_000, 1_000], lastSecond)).toEqual(['current', 'dead']);
});

test('of several keys, exactly the newest active one is current', () => {
  expect(statesOf([5_000, 4_000, 3_000, 1_000], 4_500)).toEqual(['next', 'current', 'dead', 'dead']);
});

test('when no key is active by this clock, the oldest is current', () => {
  expect(statesOf([3_000, 2_000], 1_000)).toEqual(['next', 'current']);
});

test('a key ends with the longest token of its purpose, and has no end without a successor', () => {
  const keys = [
    { purpose: 'refresh' as const, activatesAt: 2_000 },
    { purpose: 'refresh' as const, activatesAt: 1_000 },
  ];
  const ends = scheduleKeys(keys, lifetimes, 2_500).map(({ endsAt }) => endsAt);
  expect(ends).toEqual([null, 2_000 + lifetimes.refresh + tolerance]);
});
