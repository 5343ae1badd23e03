import { beforeEach, expect, test } from 'vitest';
import { ViewStore, viewsMax } from './view-store.ts';

let values: Map<string, string>;
const storeOf = (tenant: string, client: string) =>
  new ViewStore(
    { getItem: (key) => values.get(key) ?? null, setItem: (key, value) => void values.set(key, value) },
    tenant,
    client,
  );

beforeEach(() => {
  values = new Map();
});

test('views are kept by name and sorted; another one with a name replaces it', () => {
  const store = storeOf('acme', 'c');
  store.save({ name: 'Ending', search: 'expires-within=7d' });
  store.save({ name: 'Active', search: 'status=ACTIVE' });
  store.save({ name: 'Ending', search: 'expires-within=30d' });
  expect(store.read()).toEqual([
    { name: 'Active', search: 'status=ACTIVE' },
    { name: 'Ending', search: 'expires-within=30d' },
  ]);
  store.remove('Active');
  expect(store.read().map(({ name }) => name)).toEqual(['Ending']);
});

test('each client has views of its own', () => {
  storeOf('acme', 'c').save({ name: 'Active', search: 'status=ACTIVE' });
  expect(storeOf('acme', 'd').read()).toEqual([]);
  expect(storeOf('globex', 'c').read()).toEqual([]);
});

test('the number of views is limited', () => {
  const store = storeOf('acme', 'c');
  for (let index = 0; index <= viewsMax; index += 1) store.save({ name: `View ${index}`, search: '' });
  expect(store.read()).toHaveLength(viewsMax);
});

test.each(['', 'null', '{}', '[1,{"name":2}]'])('a stored text %j has no views', (text) => {
  storeOf('acme', 'c').save({ name: 'a', search: '' });
  for (const key of values.keys()) values.set(key, text);
  expect(storeOf('acme', 'c').read()).toEqual([]);
});
