import pg from 'pg';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { SubscriptionFindings } from '../../../contract/findings.ts';
import { checkRow } from '../../import/check-row.ts';
import type { TenantId } from '../../storage/store.ts';
import type { SubscriptionRow } from '../../storage/subscription-row.ts';

const drawn = drawOne(engines, import.meta.url);

const path = '/v1/subscription/findings';
const manyRows = Array.from({ length: 2_000 }, (_, n) => subscriptionRow({ id: `r${n}`, deviceId: `d${n}` }));

describe.each(drawn)('GET /v1/subscription/findings on $engine', ({ engine, openTestStore }) => {
  let opened: TestStore;
  let service: TestService;
  let acme: TenantId;
  let token: string;
  let foreign: string;
  const get = (headers: Record<string, string> = {}, of = token, query = '') =>
    service.get(path + query, of, { 'accept-encoding': 'identity', ...headers });
  /** Access tokens of new tenants, each of which has these records. */
  const tokensOf = (count: number, name: string, rows: readonly SubscriptionRow[] = []) =>
    Promise.all(
      Array.from({ length: count }, async (_, n) => {
        const tenant = await service.createTenant(`${name}-${n}`);
        await service.store.loadSubscriptions(tenant, rows);
        return service.accessToken(await service.createClient(tenant));
      }),
    );
  const countsOf = async (response: Response): Promise<Record<string, number>> => {
    const { findings } = (await response.json()) as SubscriptionFindings;
    return Object.fromEntries(findings.flatMap(({ kind, count }) => (count === 0 ? [] : [[kind, count]])));
  };

  beforeAll(async () => {
    opened = await openTestStore();
    service = await startService(opened, { DATABASE_POOL_SIZE: '4' });
    acme = await service.createTenant('acme');
    const globex = await service.createTenant('globex');
    token = await service.accessToken(await service.createClient(acme));
    foreign = await service.accessToken(await service.createClient(globex));
    const expirationDate = Math.floor(Date.now() / 1000) + 86_400;
    await service.store.loadSubscriptions(acme, [
      subscriptionRow({ id: 'a', expirationDate }),
      subscriptionRow({ id: 'b', expirationDate, iccid: '8944500102198304827', deviceId: 'other' }),
      subscriptionRow({ id: 'c', status: null, deviceId: 'c' }),
    ]);
    // the same SIM and device as of acme
    await service.store.loadSubscriptions(globex, [
      subscriptionRow({ id: 'd', expirationDate }),
      subscriptionRow({ id: 'e', status: null, deviceId: 'c' }),
    ]);
  });
  afterAll(() => service.close());

  test('has every kind, a total and a revision, and nothing of another tenant', async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('x-total-count')).toBe('3');
    expect(response.headers.get('x-revision')).toMatch(/^\d+$/);
    const body = (await response.clone().json()) as SubscriptionFindings;
    expect(Check(SubscriptionFindings, body)).toBe(true);
    expect(body.findings.find(({ kind }) => kind === 'no-status')?.examples).toEqual([{ ids: ['c'] }]);
    expect(await countsOf(response)).toEqual({ 'no-status': 1, 'no-email': 3, 'iccid-check-digit': 1 });
    expect(await countsOf(await get({}, foreign))).toEqual({ 'no-status': 1, 'no-email': 2 });
  });

  test('is not sent again while the records are the same, and is another one after a change', async () => {
    const etag = (await get()).headers.get('etag') ?? '';
    const kept = (await get()).headers;
    expect([kept.get('etag'), kept.get('server-timing')]).toEqual([etag, null]);
    const again = await get({ 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await get({ 'if-none-match': etag }, foreign)).status).toBe(200);
    await service.store.loadSubscriptions(acme, [
      subscriptionRow({ id: 'f', deviceId: 'device-1', iccid: '8944500102198304826' }),
    ]);
    const changed = await get({ 'if-none-match': etag });
    expect(changed.status).toBe(200);
    expect(await countsOf(changed)).toEqual({
      'no-status': 1,
      'no-email': 4,
      'iccid-check-digit': 1,
      'iccid-active-twice': 1,
      'active-past-end': 1,
    });
    await service.store.deleteSubscriptions(acme, ['f']);
    const erased = await get();
    expect(await erased.clone().text()).not.toContain('"f"');
    expect(await countsOf(erased)).toEqual({ 'no-status': 1, 'no-email': 3, 'iccid-check-digit': 1 });
  });

  test('requires a token, JSON and no parameters', async () => {
    const anonymous = await fetch(service.baseUrl + path);
    await expectProblem(anonymous, 'UNAUTHORISED');
    await expectProblem(await get({ accept: 'text/csv' }), 'UNACCEPTABLE');
    await expectProblem(await get({}, token, '?status=ACTIVE'), 'INVALID_REQUEST_PARAMS');
  });

  test('lets tenants that ask at the same time wait for their turn', async () => {
    const tokens = await tokensOf(8, 'waiting', manyRows);
    const responses = await Promise.all(tokens.map((of) => get({}, of)));
    expect(responses.map(({ status }) => status)).toEqual(tokens.map(() => 200));
    expect(responses.map(({ headers }) => headers.get('x-total-count'))).toEqual(tokens.map(() => '2000'));
  });

  test('gives up the wait of a client that disconnects', async () => {
    const tokens = await tokensOf(6, 'leaving', manyRows);
    const leaving = new AbortController();
    const requests = tokens.map((of) =>
      fetch(service.baseUrl + path, { headers: { authorization: `Bearer ${of}` }, signal: leaving.signal }),
    );
    leaving.abort();
    expect((await Promise.allSettled(requests)).every((each) => each.status === 'rejected')).toBe(true);
    await expect
      .poll(async () => (await Promise.all(tokens.map((of) => get({}, of)))).map(({ status }) => status))
      .toEqual(tokens.map(() => 200));
  });

  test.each([
    { who: 'one client', others: 0 },
    { who: 'two clients of a tenant', others: 1 },
  ])('reads the records of a tenant once at a time, and tells $who when to come again', async ({ others }) => {
    const other = others === 0 ? token : await service.accessToken(await service.createClient(acme));
    // a reader of few records may end before the next request arrives
    let refused: Response[] = [];
    for (let attempt = 0; attempt < 50 && refused.length === 0; attempt += 1) {
      const changed = subscriptionRow({ id: 'g', deviceId: `g${others}${attempt}`, status: 'PENDING' });
      await service.store.loadSubscriptions(acme, [changed]);
      const responses = await Promise.all([get(), get({}, other)]);
      refused = responses.filter(({ status }) => status !== 200);
    }
    expect(refused).toHaveLength(1);
    for (const response of refused) {
      expect(response.headers.get('retry-after')).toBe('10');
      await expectProblem(response, 'TOO_MANY_REQUESTS');
    }
    expect((await get({}, other)).status).toBe(200);
  });

  test.runIf(engine === 'postgres')('reads two tenants at a time, and no other request waits for them', async () => {
    const tokens = await tokensOf(6, 'hanging');
    const etag = (await service.get('/v1/subscription', token)).headers.get('etag') ?? '';
    const connectionString = opened.environment.DATABASE_URL;
    const [locker, watcher] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })];
    await Promise.all([locker.connect(), watcher.connect()]);
    const readers = async (): Promise<number> => {
      const { rows } = await watcher.query(
        "select count(*) as n from pg_stat_activity where application_name = 'subreport-export' and datname = current_database() and wait_event_type = 'Lock'",
      );
      return Number(rows[0]?.n);
    };
    try {
      await locker.query('begin; lock table subscription in access exclusive mode');
      const reading = Promise.all(tokens.map((of) => get({}, of)));
      await expect.poll(readers).toBe(2);
      for (let n = 0; n < 20; n += 1)
        expect((await service.get('/v1/subscription', token, { 'if-none-match': etag })).status).toBe(304);
      expect(await readers()).toBe(2);
      await locker.query('commit');
      expect((await reading).map(({ status }) => status)).toEqual(tokens.map(() => 200));
    } finally {
      await Promise.all([locker.end(), watcher.end()]);
    }
  });
});

test('no record can have the id of the operation', () => {
  const checked = checkRow({ ...(JSON.parse(subscriptionRow({ id: 'findings' }).record) as object) });
  expect(checked).toMatchObject({ faults: [{ field: 'id', rule: expect.stringContaining('findings') }] });
});
