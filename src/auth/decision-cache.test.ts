import { expect, test } from 'vitest';
import type { AuthContext } from './auth-context.ts';
import { createDecisionCache } from './decision-cache.ts';

/** A cache over a store whose mark and a clock whose time the test sets. */
function cacheOf(mark: number | undefined) {
  const given = { mark, now: 1_000 };
  const store = { changeMark: () => given.mark } as AuthContext['store'];
  return { given, decide: createDecisionCache<string>({ store, now: () => given.now }) };
}

test('a decision is known while the mark of the store stays, and of no other token', () => {
  const { given, decide } = cacheOf(1);
  decide('token').keep('yes', 2_000);
  expect([decide('token').known, decide('other').known]).toEqual(['yes', undefined]);
  given.mark = 2;
  expect(decide('token').known).toBeUndefined();
});

test('a decision is not kept when the mark changed while it was made, or is not known', () => {
  const { given, decide } = cacheOf(1);
  const decision = decide('token');
  given.mark = 2;
  decide('other');
  decision.keep('yes', 2_000);
  expect(decide('token').known).toBeUndefined();
  given.mark = undefined;
  decide('token').keep('yes', 2_000);
  expect(decide('token').known).toBeUndefined();
});

test('a decision ends with its token and five seconds for clocks that differ', () => {
  const { given, decide } = cacheOf(1);
  decide('token').keep('yes', 1_010);
  given.now = 1_014;
  expect(decide('token').known).toBe('yes');
  given.now = 1_015;
  expect(decide('token').known).toBeUndefined();
});
