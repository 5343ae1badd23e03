import { describe, expect, test } from 'vitest';
import { keyLeadSeconds, keySetSeconds, scheduleKeys } from './key-schedule.ts';
import { planRotation } from './rotate-keys.ts';

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

test('a key is replaced when any newer key becomes active, even if another newer one is far in the future', () => {
  const lastSecond = 3_000 + lifetimes.access + tolerance;
  expect(statesOf([3_000, 9_000_000, 1_000], lastSecond)).toEqual(['current', 'dead', 'dead']);
});

describe('planRotation', () => {
  const day = 86_400;
  const plan = (activeFrom: readonly number[], now: number, days = 90) =>
    planRotation(
      activeFrom.map((activatesAt) => ({ purpose: 'access' as const, activatesAt })),
      days,
      now,
    );

  test('a rotation is due the given number of days after the current key became active', () => {
    expect(plan([1_000], 2_000)).toEqual({ dueAt: 1_000 + 90 * day, isWaiting: false });
    expect([plan([1_000], 2_000, 0).dueAt, plan([], 2_000).dueAt]).toEqual([null, null]);
  });

  test('a waiting key delays the rotation only if it takes over within the lead time', () => {
    const now = 1_000 + 90 * day;
    expect(plan([now + keyLeadSeconds, 1_000], now)).toMatchObject({ dueAt: now, isWaiting: true });
    expect(plan([now + 400 * day, 1_000], now)).toMatchObject({ dueAt: now, isWaiting: false });
  });

  test('a clock that was set back makes no rotation due', () => {
    const now = 500 * day;
    expect(plan([now + 7_200], now).dueAt).toBeGreaterThan(now);
    expect(plan([now + 400 * day, now + 390 * day], now).dueAt).toBeGreaterThan(now);
  });
});
