import { expect, test } from 'vitest';
import { FreshMap } from './fresh-map.ts';

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
