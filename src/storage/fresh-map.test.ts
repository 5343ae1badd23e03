import { expect, test } from 'vitest';
import { createFreshCache, FreshMap } from './fresh-map.ts';
import type { Store } from './store.ts';

/** A map over a store whose change mark the test sets. */
function mapAt(changeMark: number | undefined) {
  const store = { mark: changeMark, changeMark: () => store.mark };
  const map = new FreshMap<string>(store, { entriesMax: 10, bytesMax: 10_000 });
  return { store, map };
}

test('a fresh map keeps its values while the change mark stays the same', () => {
  const { map } = mapAt(1);
  expect(map.refresh()).toBe(1);
  map.set('key', 'value');
  expect([map.refresh(), map.get('key')]).toEqual([1, 'value']);
});

test('a fresh map is emptied when the change mark differs, even if it goes back later', () => {
  const { map, store } = mapAt(1);
  map.refresh();
  map.set('key', 'value');
  store.mark = 2;
  map.refresh();
  store.mark = 1;
  map.refresh();
  expect(map.get('key')).toBeUndefined();
});

test('a fresh map is emptied on each refresh while the change mark is unknown', () => {
  const { map, store } = mapAt(1);
  map.refresh();
  map.set('key', 'value');
  store.mark = undefined;
  expect([map.refresh(), map.get('key')]).toEqual([undefined, undefined]);
  map.set('key', 'value');
  map.refresh();
  expect(map.get('key')).toBeUndefined();
});

test('a fresh map is at the last change mark that it was refreshed at, and never at an unknown one', () => {
  const { map, store } = mapAt(1);
  expect(map.isAt(1)).toBe(false);
  map.refresh();
  store.mark = 2;
  expect([map.isAt(1), map.isAt(2), map.isAt(undefined)]).toEqual([true, false, false]);
  map.refresh();
  expect([map.isAt(1), map.isAt(2)]).toEqual([false, true]);
  store.mark = undefined;
  map.refresh();
  expect(map.isAt(undefined)).toBe(false);
});

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
