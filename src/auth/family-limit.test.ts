import { expect, test } from 'vitest';
import { createFamilyLimit } from './family-limit.ts';

test('a small family limit is enforced at each new family', () => {
  const limit = createFamilyLimit(3);
  expect([limit.dueNow('a'), limit.dueNow('a'), limit.dueNow('b')]).toEqual([3, 3, 3]);
});

test('a large family limit is enforced once per half as many new families, for each client', () => {
  const limit = createFamilyLimit(100);
  const looks = Array.from({ length: 150 }, () => limit.dueNow('a'));
  expect(looks.map((due, index) => (due === undefined ? undefined : index + 1)).filter(Boolean)).toEqual([
    50, 100, 150,
  ]);
  expect(limit.dueNow('b')).toBeUndefined();
});
