import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { SubscriptionSummary } from '../../../contract/summary.ts';
import type { TenantId } from '../../storage/store.ts';

const drawn = drawOne(engines, import.meta.url);

const path = '/v1/subscription/summary';
const rows = Array.from({ length: 60 }, (_, index) =>
  subscriptionRow({
    id: `id-${index}`,
    createdDate: Date.parse('2024-01-31T20:00:00Z') / 1000 + index * 600,
    status: ['ACTIVE', 'EXPIRED', null][index % 3] ?? null,
    productId: `product-${index % 40}`,
    email: index < 5 ? 'ada@example.com' : null,
  }),
);

describe.each(drawn)('GET /v1/subscription/summary on $engine', ({ openTestStore }) => {
  let service: TestService;
  let acme: TenantId;
  let token: string;
  const get = (query = '', headers: Record<string, string> = {}, of = token) =>
    service.get(`${path}${query}`, of, { 'accept-encoding': 'identity', ...headers });
  const send = (method: string, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
    fetch(service.baseUrl + path, { method, headers });

  beforeAll(async () => {
    service = await startService(await openTestStore());
    acme = await service.createTenant('acme');
    const globex = await service.createTenant('globex');
    token = await service.accessToken(await service.createClient(acme));
    await service.store.loadSubscriptions(acme, [...rows, subscriptionRow({ id: 'summary', createdDate: 5 })]);
    await service.store.loadSubscriptions(globex, [subscriptionRow({ id: 'of-globex', status: 'PENDING' })]);
  });
  afterAll(() => service.close());

  test('a summary counts by status, product, plan and auto-renew, and X-Applied-Filters says so', async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('x-total-count')).toBe('61');
    expect(decodeURIComponent(response.headers.get('x-applied-filters') ?? '')).toBe(
      'date-field=created&by=status,product-id,plan-id,auto-renew',
    );
    expect(response.headers.get('server-timing')).toMatch(/^parse;dur=.*, plan;dur=.*, run;dur=.*, format;dur=/);
    const summary = (await response.json()) as SubscriptionSummary;
    expect(Check(SubscriptionSummary, summary)).toBe(true);
    expect(summary.by['product-id']?.[0]).toEqual({ value: 'product-0', name: 'Europe 1 GB', count: 2 });
    expect(Object.keys(summary.by)).toEqual(['status', 'product-id', 'plan-id', 'auto-renew']);
    expect(summary).toMatchObject({
      total: 61,
      by: {
        status: [
          { value: 'ACTIVE', count: 21 },
          { value: 'EXPIRED', count: 20 },
          { value: null, count: 20 },
        ],
        'plan-id': [{ value: 'plan-1', count: 61 }],
        'auto-renew': [{ value: 'true', count: 61 }],
      },
    });
  });

  test('a summary by day and month in UTC counts the filtered records only, each value once, in the order of the contract', async () => {
    const response = await get(
      '?by=month,day,status&status=EXPIRED,ACTIVE&created-from=2024-01-31T00:00:00%2B01:00&created-to=2024-03-01T00:00:00Z&email=Ada@example.com',
    );
    expect(await response.json()).toEqual({
      total: 4,
      by: {
        status: [
          { value: 'ACTIVE', count: 2 },
          { value: 'EXPIRED', count: 2 },
        ],
        day: [{ value: '2024-01-31', count: 4 }],
        month: [{ value: '2024-01', count: 4 }],
      },
    });
    expect(decodeURIComponent(response.headers.get('x-applied-filters') ?? '')).toBe(
      'email=***&status=ACTIVE,EXPIRED&date-field=created&created-from=2024-01-30T23:00:00Z&created-to=2024-03-01T00:00:00Z&by=status,day,month',
    );
    expect(service.logText()).not.toMatch(/ada(@|%40)example/i);
  });

  test('a summary with expires-within covers the interval that X-Applied-Filters states', async () => {
    const { headers } = await get('?expires-within=7d&by=day&date-field=expiration');
    expect(headers.get('x-applied-filters')).toMatch(/expires-within=P7D&expires-after=.+&expires-until=.+&by=day$/);
  });

  test("a summary counts none of another tenant's records", async () => {
    expect(await (await get('?status=PENDING')).json()).toMatchObject({ total: 0, by: { status: [] } });
  });

  test('a summary that the client has cached gets 304 without reading a row, until a record changes', async () => {
    const etag = (await get()).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    const reading = vi.spyOn(service.store, 'readTenant');
    const again = await get('', { 'if-none-match': etag });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect(again.headers.get('cache-control')).toBe('private, no-cache');
    expect(reading).not.toHaveBeenCalled();
    reading.mockRestore();
    for (const query of ['?by=status', '?by=product-id', '?status=ACTIVE'])
      expect((await get(query, { 'if-none-match': etag })).status).toBe(200);
    const one = subscriptionRow({ id: 'one-more', createdDate: 6 });
    await service.store.loadSubscriptions(acme, [one]);
    const changed = await get('', { 'if-none-match': etag });
    expect([changed.status, await changed.json()]).toMatchObject([200, { total: 62 }]);
    await service.store.deleteSubscriptions(acme, ['one-more']);
  });

  test('a summary is compressed for clients that accept it', async () => {
    const response = await get('?by=product-id,day&after=2024-01-01T00:00:00Z&before=2024-03-01T00:00:00Z', {
      'accept-encoding': 'gzip',
    });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(await response.json()).toMatchObject({ total: 60 });
  });

  test('a summary is available only as JSON', async () => {
    expect((await get('', { accept: 'application/*' })).status).toBe(200);
    for (const accept of ['text/csv', 'application/x-ndjson', 'application/json;q=0'])
      await expectProblem(await get('', { accept }), 'UNACCEPTABLE');
  });

  test('a summary needs an access token', async () => {
    await expectProblem(await send('GET', {}), 'UNAUTHORISED');
    await expectProblem(await get('', {}, 'x.y.z'), 'UNAUTHORISED');
  });

  test("the summary's path is neither a record nor a prefix of other paths", async () => {
    expect(await (await service.get('/v1/subscription/id-1', token)).text()).toBe(rows[1]?.record);
    await expectProblem(await service.get(`${path}/`, token), 'NOT_FOUND');
    await expectProblem(await service.get('/v1/subscription/Summary', token), 'NOT_FOUND');
    const search = await fetch(`${service.baseUrl}/v1/subscription/search`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"before":"2000-01-01T00:00:00Z"}',
    });
    expect(await search.json()).toMatchObject([{ id: 'summary' }]);
  });
});
