import { expect, test } from 'vitest';
import { createFreshCache } from './fresh-cache.ts';
import type { Store } from './store.ts';

/** A cache of 2,000 bytes over a store whose mark the test sets, and the keys that were read. */
function cacheOf(read: (key: string) => Promise<string>) {
  const given: { mark: number | undefined; asked: string[] } = { mark: 1, asked: [] };
  const store = { changeMark: () => given.mark } as Store;
  const ask = createFreshCache(
    store,
    (key) => {
      given.asked.push(key);
      return read(key);
    },
    2_000,
  );
  return { given, ask };
}

test('what was read is kept while the mark stays, and read by one for all who ask at once', async () => {
  const { given, ask } = cacheOf(async (key) => `value of ${key}`);
  expect(await Promise.all([ask('a'), ask('a'), ask('b')])).toEqual(['value of a', 'value of a', 'value of b']);
  await ask('a');
  expect(given.asked).toEqual(['a', 'b']);
  given.mark = 2;
  await ask('a');
  given.mark = undefined;
  for (let n = 0; n < 2; n += 1) await ask('a');
  expect(given.asked).toEqual(['a', 'b', 'a', 'a', 'a']);
});

test('a failed reading is not kept', async () => {
  const { given, ask } = cacheOf(async () => Promise.reject(new Error('away')));
  for (let n = 0; n < 2; n += 1) await expect(ask('a')).rejects.toThrow('away');
  expect(given.asked).toEqual(['a', 'a']);
});

test('values are kept as far as their bytes fit, the ones used last; one that never fits is read each time', async () => {
  const { given, ask } = cacheOf(async (key) => 'x'.repeat(key === 'large' ? 3_000 : 500));
  for (const key of ['a', 'b', 'c', 'a', 'b', 'c', 'd', 'a', 'd', 'large', 'large']) await ask(key);
  expect(given.asked.join()).toMatch(/^a,b,c(,[abc])*,d,a,large,large$/);
  expect(given.asked.filter((key) => key === 'large')).toHaveLength(2);
});
