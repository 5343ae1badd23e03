import { expect, test } from 'vitest';
import type { AuthContext } from './auth-context.ts';
import { createDecisionCache } from './decision-cache.ts';

/** A cache over a store whose change mark, and a clock whose time, the test sets. */
function cacheOf(changeMark: number | undefined) {
  const given = { changeMark, now: 1_000 };
  const store = { changeMark: () => given.changeMark } as AuthContext['store'];
  return { given, decide: createDecisionCache<string>({ store, now: () => given.now }) };
}

test('a decision is cached while the change mark stays, for its own token only', () => {
  const { given, decide } = cacheOf(1);
  decide('token').keep('yes', 2_000);
  expect([decide('token').known, decide('other').known]).toEqual(['yes', undefined]);
  given.changeMark = 2;
  expect(decide('token').known).toBeUndefined();
});

test('a decision is not cached if the change mark changed meanwhile or is unknown', () => {
  const { given, decide } = cacheOf(1);
  const decision = decide('token');
  given.changeMark = 2;
  decide('other');
  decision.keep('yes', 2_000);
  expect(decide('token').known).toBeUndefined();
  given.changeMark = undefined;
  decide('token').keep('yes', 2_000);
  expect(decide('token').known).toBeUndefined();
});

test('a cached decision expires with its token, plus five seconds for clock differences', () => {
  const { given, decide } = cacheOf(1);
  decide('token').keep('yes', 1_010);
  given.now = 1_014;
  expect(decide('token').known).toBe('yes');
  given.now = 1_015;
  expect(decide('token').known).toBeUndefined();
});
