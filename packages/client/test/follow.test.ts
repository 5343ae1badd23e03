import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { subscriptionRow } from '../../../test/support/rows.ts';
import type { TestClient } from '../../../test/support/service.ts';
import type { TenantId } from '../../service/storage/store.ts';
import type { ClientOptions, FollowOptions, FollowPage, Subscription } from '../index.ts';
import { isRemoved } from '../index.ts';
import { type ClientService, createMemoryStore, optionsOf, rejectionOf, startClientService } from './client-service.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';
import { createManualClock } from './manual-clock.ts';

let shared: ClientService;
let proxy: FaultyProxy | undefined;
let tenant: TenantId;
let credentials: TestClient;
let tenants = 0;
beforeAll(async () => {
  shared = await startClientService();
});
afterEach(() => proxy?.close());
afterAll(() => shared.service.close());

/** A client of a new tenant with 25 records, behind a proxy with faults for its first requests. */
async function setUp(faults: (Fault | undefined)[] = []) {
  tenants += 1;
  tenant = await shared.service.createTenant(`followed-${tenants}`);
  credentials = await shared.service.createClient(tenant);
  await load(records());
  const started = await startFaultyProxy(shared.service.url, ({ path }) =>
    path.startsWith('/connect-api') ? faults.shift() : undefined,
  );
  proxy = started;
  const clock = createManualClock();
  const options = optionsOf({ url: started.url, baseUrl: `${started.url}/connect-api` }, credentials);
  const client = shared.clientOf({ ...options, attempts: 1 } as Partial<ClientOptions>, credentials, clock);
  return { client, clock };
}

const records = (): Subscription[] => shared.rows.slice(0, 25).map(({ email: _email, ...record }) => record);
const load = (some: readonly Subscription[]) =>
  shared.service.store.loadSubscriptions(
    tenant,
    some.map((record) => subscriptionRow({ id: record.id, record: JSON.stringify(record) })),
  );

/** A copy that applies pages, and stops following after one for which `isLast` is true. */
function createCopy(isLast: (page: FollowPage, pages: number) => boolean) {
  const controller = new AbortController();
  const held = new Map<string, Subscription>();
  const pages: FollowPage[] = [];
  const onPage = (page: FollowPage): void => {
    if (page.reset) held.clear();
    for (const change of page.changes) {
      if (isRemoved(change)) held.delete(change.id);
      else held.set(change.id, change);
    }
    pages.push(page);
    if (isLast(page, pages.length)) controller.abort();
  };
  const options: FollowOptions = { size: 10, onPage, signal: controller.signal };
  return { pages, options, records: () => [...held.values()].sort(byId) };
}

const byId = (a: Subscription, b: Subscription): number => (a.id < b.id ? -1 : 1);
const isUpToDate = ({ hasMore }: FollowPage): boolean => !hasMore;

test('changes yields pages until the copy is up to date, and continues from a token', async () => {
  const { client } = await setUp();
  const pages = await Array.fromAsync(client.changes(undefined, { size: 10 }));
  expect(pages.map(({ changes, hasMore }) => [changes.length, hasMore])).toEqual([
    [10, true],
    [10, true],
    [5, false],
  ]);
  const since = pages.at(-1)?.next;
  expect(await Array.fromAsync(client.changes(since))).toEqual([
    { changes: [], next: since, hasMore: false, revision: 1 },
  ]);
  expect(await Array.fromAsync(client.changes('now'))).toEqual([
    { changes: [], next: since, hasMore: false, revision: 1 },
  ]);
  await shared.service.store.deleteSubscriptions(tenant, [records()[0]?.id ?? '']);
  const [page] = await Array.fromAsync(client.changes(since));
  expect(page?.changes).toEqual([{ id: records()[0]?.id, removed: true }]);
});

test('follow reads everything, polls after the interval, and continues from the store', async () => {
  const { client, clock } = await setUp();
  const store = createMemoryStore<string>();
  const copy = createCopy((page, count) => isUpToDate(page) && count === 5);
  await client.follow({ ...copy.options, store, intervalMs: 7_000 });
  expect(copy.pages.map(({ reset }) => reset)).toEqual([true, false, false, false, false]);
  expect(clock.sleeps.slice(0, 2)).toEqual([7_000, 7_000]);
  expect(copy.records()).toEqual(records().sort(byId));

  const changed = records()
    .slice(0, 2)
    .map((record) => ({ ...record, status: 'EXPIRED' }));
  await load(changed);
  await shared.service.store.deleteSubscriptions(tenant, [records()[2]?.id ?? '']);
  const second = createCopy(isUpToDate);
  await client.follow({ ...second.options, store });
  expect(second.pages.map(({ reset, changes }) => [reset, changes.length])).toEqual([[false, 3]]);
});

test('a change token that is no longer valid leads to a full read into an emptied copy', async () => {
  const other = await Array.fromAsync(shared.clientOf().changes());
  const { client } = await setUp();
  const store = createMemoryStore<string>();
  store.value = other.at(-1)?.next; // of another tenant: 410
  const copy = createCopy(isUpToDate);
  await client.follow({ ...copy.options, store });
  expect(copy.pages.map(({ reset }) => reset)).toEqual([true, false, false]);
  expect(copy.records()).toEqual(records().sort(byId));
  expect(store.value).toBe(copy.pages.at(-1)?.next);
});

test('the change token is stored after the page was applied, so a crash repeats the page', async () => {
  const { client } = await setUp();
  const store = createMemoryStore<string>();
  const copy = createCopy(isUpToDate);
  let applied = 0;
  const crashing = client.follow({
    ...copy.options,
    store,
    onPage: async (page) => {
      applied += 1;
      if (applied === 2) throw new Error('the disk is full');
      await copy.options.onPage(page);
    },
  });
  expect(await rejectionOf(crashing)).toMatchObject({ message: 'the disk is full' });
  expect(store.value).toBe(copy.pages[0]?.next);
  await client.follow({ ...copy.options, store });
  expect(copy.pages.map(({ reset }) => reset)).toEqual([true, false, false]);
  expect(copy.records()).toEqual(records().sort(byId));
});

test('follow outlasts lost connections and 503, and ends with other errors', async () => {
  const unavailable = {
    status: 503,
    headers: { 'retry-after': '90' },
    body: '{"type":"UNAVAILABLE","detail":"later"}',
  };
  const denied = { status: 403, body: '{"type":"ACCESS_DENIED","detail":"not yours"}' };
  const { client, clock } = await setUp([undefined, 'reset', unavailable, undefined, denied]);
  const copy = createCopy(() => false);
  const outlasted: string[] = [];
  const onError = (error: Error) => outlasted.push(error.name);
  expect(await rejectionOf(client.follow({ ...copy.options, onError }))).toMatchObject({ code: 'ACCESS_DENIED' });
  expect(outlasted).toEqual(['ConnectionError', 'ApiError']);
  expect(copy.pages).toHaveLength(2);
  expect(clock.sleeps).toEqual([60_000, 90_000]);
});

test('follow resolves when its signal is aborted during a request', async () => {
  const { client } = await setUp(['hang']);
  const controller = new AbortController();
  const following = client.follow({ onPage: () => undefined, signal: controller.signal });
  await expect.poll(() => proxy?.requests.some(({ path }) => path.includes('/changes'))).toBe(true);
  controller.abort();
  expect(await following).toBeUndefined();
});

test('follow with an expired since and no store reads everything again, once', async () => {
  const other = await Array.fromAsync(shared.clientOf().changes());
  const { client } = await setUp();
  const copy = createCopy((page, count) => isUpToDate(page) && count === 2);
  const { signal, onPage } = copy.options;
  const giveUp = new AbortController(); // ends a client that asks again and again
  const asked = () => proxy?.requests.filter(({ path }) => path.includes('/changes')) ?? [];
  const watch = setInterval(() => asked().length > 20 && giveUp.abort(), 5);
  await client.follow({
    since: other.at(-1)?.next,
    onPage,
    signal: AbortSignal.any([giveUp.signal, ...(signal === undefined ? [] : [signal])]),
  });
  clearInterval(watch);
  const sinces = asked().map(({ path }) => new URL(path, proxy?.url).searchParams.get('since'));
  expect(sinces).toEqual([other.at(-1)?.next, null, copy.pages[0]?.next]);
  expect(copy.pages.map(({ reset, changes }) => [reset, changes.length])).toEqual([
    [true, 25],
    [false, 0],
  ]);
});
