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

test.each(['iccid=8944500102198304826', 'device-id=tracker-7', 'status=ACTIVE&email=ada%40example.com', 'id=c3ViMQ'])(
  'a view with the filter %s is not kept, and one that an older version kept is removed',
  (search) => {
    const store = storeOf('acme', 'c');
    store.save({ name: 'Active', search: 'status=ACTIVE' });
    store.save({ name: 'One', search });
    expect(store.read().map(({ name }) => name)).toEqual(['Active']);
    for (const [key, text] of values) values.set(key, text.replace('status=ACTIVE', search));
    expect(store.read()).toEqual([]);
    expect([...values.values()].join()).not.toContain(search);
  },
);

test('the number of views is limited: another one replaces the oldest, whatever its name', () => {
  const store = storeOf('acme', 'c');
  for (let index = 0; index <= viewsMax; index += 1) store.save({ name: `View ${99 - index}`, search: '' });
  const names = store.read().map(({ name }) => name);
  expect(names).toHaveLength(viewsMax);
  expect(names).not.toContain('View 99');
  expect(names).toEqual(names.toSorted());
});

test.each(['', 'null', '{}', '[1,{"name":2}]'])('a stored text %j has no views', (text) => {
  storeOf('acme', 'c').save({ name: 'a', search: '' });
  for (const key of values.keys()) values.set(key, text);
  expect(storeOf('acme', 'c').read()).toEqual([]);
});
