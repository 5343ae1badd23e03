import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disableClientById } from '../../src/auth/manage-clients.ts';
import {
  ApiError,
  autoRenews,
  ConnectionError,
  isRemoved,
  SubreportClient,
  TokenRequestError,
} from '../../src/client/index.ts';
import type { Subscription } from '../../src/contract/subscription.ts';
import { importRecords } from '../../src/import/import-records.ts';
import { syntheticRows } from '../../src/import/synthetic-rows.ts';
import { freePort } from '../../tools/free-port.ts';
import { engines } from '../support/engines.ts';
import { subscriptionRow } from '../support/rows.ts';
import { startService, type TestClient, type TestService } from '../support/service.ts';

const byId = (a: Subscription, b: Subscription): number => (a.id < b.id ? -1 : 1);

describe('the client library against a real service', () => {
  let service: TestService;
  let credentials: TestClient;
  const rows = [...syntheticRows({ count: 250, seed: 3, until: 1_780_000_000 })];
  const clientOf = (given: TestClient = credentials, more: object = {}) =>
    new SubreportClient({
      baseUrl: service.baseUrl,
      tokenUrl: `${service.url}/oauth2/token`,
      clientId: given.client_id,
      clientSecret: given.client_secret,
      ...more,
    });
  const tokenRequests = () => service.log.filter(({ route }) => route === '/oauth2/token').length;

  beforeAll(async () => {
    service = await startService(await engines[0].openTestStore());
    const tenant = await service.createTenant('acme');
    credentials = await service.createClient(tenant);
    const source = (async function* () {
      yield Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'));
    })();
    await importRecords(service.store, tenant, source, {
      format: 'ndjson',
      dryRun: false,
      onRejected: () => undefined,
    });
  });
  afterAll(() => service.close());

  test('reads every record of a report, page after page', async () => {
    const ids: string[] = [];
    for await (const subscription of clientOf().listSubscriptions({ size: 30 })) ids.push(subscription.id);
    expect(ids.toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
  });

  test('filters, takes dates, and gives totals', async () => {
    const after = new Date(1_700_000_000_000);
    const expected = rows.filter((row) => row.status === 'EXPIRED' && Date.parse(row.createdDate) > after.getTime());
    const page = await clientOf().getPage({ status: 'EXPIRED', after, size: 10 });
    expect(page).toMatchObject({
      totalCount: expected.length,
      totalPages: Math.ceil(expected.length / 10),
      currentPage: 1,
      previousPage: undefined,
    });
    const second = await clientOf().getPage(page.nextPage ?? '');
    expect([second.currentPage, second.records.length]).toEqual([2, 10]);
  });

  test('gets one record, and says NOT_FOUND for one that is not there', async () => {
    const [first] = rows;
    const { email: _email, ...record } = first ?? { email: '' };
    expect(await clientOf().getSubscription(first?.id ?? '')).toEqual(record);
    await expect(clientOf().getSubscription('nobody-has-this')).rejects.toMatchObject({
      name: 'ApiError',
      code: 'NOT_FOUND',
      status: 404,
    });
  });

  test('gets a summary, of filters and groups', async () => {
    const after = new Date(1_700_000_000_000);
    const left = rows.filter((row) => row.auto_renew === 'true' && Date.parse(row.createdDate) > after.getTime());
    const summary = await clientOf().getSubscriptionSummary({ 'auto-renew': true, after, by: ['month', 'status'] });
    expect(summary.total).toBe(left.length);
    expect(Object.keys(summary.by)).toEqual(['status', 'month']);
    const active = left.filter(({ status }) => status === 'ACTIVE').length;
    expect(summary.by.status?.find(({ value }) => value === 'ACTIVE')?.count).toBe(active);
    expect(Object.keys((await clientOf().getSubscriptionSummary({ by: 'product-id' })).by)).toEqual(['product-id']);
    await expect(clientOf().getSubscriptionSummary({ by: 'day' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST_PARAMS',
    });
  });

  test('keeps a copy in step with the changes, page by page, and gives the token to go on from', async () => {
    const tenant = await service.createTenant('followed');
    const client = clientOf(await service.createClient(tenant));
    const records = rows.slice(0, 25).map(({ email: _email, ...record }) => record);
    const load = (some: readonly Subscription[]) =>
      service.store.loadSubscriptions(
        tenant,
        some.map((record) => subscriptionRow({ id: record.id, record: JSON.stringify(record) })),
      );
    const copy = new Map<string, Subscription>();
    let token: string | undefined;
    const follow = async (): Promise<boolean[]> => {
      const more: boolean[] = [];
      for await (const { changes, next, hasMore } of client.listSubscriptionChanges(token, { size: 10 })) {
        for (const change of changes) {
          if (isRemoved(change)) copy.delete(change.id);
          else copy.set(change.id, change);
        }
        token = next;
        more.push(hasMore);
      }
      return more;
    };
    await load(records);
    expect(await follow()).toEqual([true, true, false]);
    expect([...copy.values()].sort(byId)).toEqual(records.toSorted(byId));
    const caughtUp = token;
    expect([await follow(), token]).toEqual([[false], caughtUp]);
    const changed = records.slice(0, 2).map((record) => ({ ...record, status: 'EXPIRED' }));
    await load(changed);
    await service.store.deleteSubscriptions(tenant, [records[2]?.id ?? '']);
    await follow();
    expect([...copy.values()].sort(byId)).toEqual([...changed, ...records.slice(3)].sort(byId));
  });

  test("a token of another tenant's changes is RESYNC_REQUIRED", async () => {
    const [first] = await Array.fromAsync(clientOf().listSubscriptionChanges());
    const other = clientOf(await service.createClient(await service.createTenant('elsewhere')));
    await expect(Array.fromAsync(other.listSubscriptionChanges(first?.next))).rejects.toMatchObject({
      name: 'ApiError',
      code: 'RESYNC_REQUIRED',
      status: 410,
    });
  });

  test('asks for one token however many calls wait for it', async () => {
    const client = clientOf();
    const before = tokenRequests();
    await Promise.all(Array.from({ length: 50 }, () => client.getPage({ size: 1 })));
    expect(tokenRequests() - before).toBe(1);
  });

  test('a wrong secret is one request and a typed error', async () => {
    const before = tokenRequests();
    await expect(clientOf({ ...credentials, client_secret: 'wrong' }).getPage({})).rejects.toBeInstanceOf(
      TokenRequestError,
    );
    await expect(clientOf({ ...credentials, client_secret: 'wrong' }).getPage({})).rejects.toMatchObject({
      code: 'invalid_client',
    });
    expect(tokenRequests() - before).toBe(2);
  });

  test('bad parameters are an ApiError with every fault', async () => {
    const failure = await clientOf()
      .getPage({ size: 0, before: 'yesterday' })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApiError);
    expect((failure as ApiError).problem.errors.map(({ parameter }) => parameter).toSorted()).toEqual([
      'before',
      'size',
    ]);
  });

  test('a client that was disabled learns it from the token endpoint', async () => {
    const tenant = await service.createTenant('globex');
    const other = await service.createClient(tenant);
    const client = clientOf(other);
    await client.getPage({});
    await disableClientById(service.store, Math.floor(Date.now() / 1000), other.client_id);
    await expect
      .poll(async () => client.getPage({}).catch((error: { code?: string }) => error.code))
      .toBe('invalid_client');
  });

  test('the token goes nowhere else', async () => {
    await expect(clientOf().getPage('http://127.0.0.1:1/elsewhere')).rejects.toThrow(/must start with/);
  });

  test('a service that is not there is a ConnectionError after the tries', async () => {
    const port = await freePort();
    const options = {
      baseUrl: `http://127.0.0.1:${port}/connect-api`,
      tokenUrl: `http://127.0.0.1:${port}/oauth2/token`,
      clientId: 'a',
      clientSecret: 'b',
      triesMax: 2,
    };
    await expect(new SubreportClient(options).getPage({})).rejects.toBeInstanceOf(ConnectionError);
  });

  test('a signal stops it', async () => {
    await expect(clientOf().getPage({}, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('auto_renew reads as a boolean', () => {
    expect([autoRenews({ auto_renew: 'true' }), autoRenews({ auto_renew: 'false' })]).toEqual([true, false]);
  });
});

describe('the client library when the service is busy', () => {
  test('waits as long as Retry-After says and goes on where it was', async () => {
    const service = await startService(await engines[0].openTestStore(), { RATE_LIMIT_PER_MINUTE: '2' });
    const tenant = await service.createTenant('acme');
    const { client_id: clientId, client_secret: clientSecret } = await service.createClient(tenant);
    const waits: string[] = [];
    const impatient: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (response.status !== 429) return response;
      waits.push(response.headers.get('retry-after') ?? 'none');
      const headers = new Headers(response.headers);
      headers.set('retry-after', '0'); // the test has no minute to spare
      return new Response(response.body, { status: 429, headers });
    };
    const client = new SubreportClient({
      baseUrl: service.baseUrl,
      tokenUrl: `${service.url}/oauth2/token`,
      clientId,
      clientSecret,
      fetch: impatient,
    });
    await client.getPage({});
    await client.getPage({});
    await expect(client.getPage({})).rejects.toMatchObject({ name: 'ApiError', code: 'TOO_MANY_REQUESTS' });
    expect(waits).toHaveLength(3);
    expect(waits.every((wait) => Number(wait) > 0 && Number(wait) <= 60)).toBe(true);
    await service.close();
  });
});
