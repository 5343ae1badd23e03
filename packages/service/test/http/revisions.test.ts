import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { expectTokenError } from '../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import type { TenantId } from '../../storage/store.ts';

const drawn = drawOne(engines, import.meta.url);

describe.each(drawn)('responses of a revision on $engine', ({ openTestStore }) => {
  let service: TestService;
  let tenant: TenantId;
  let token: string;
  const load = (from: number, count: number) =>
    service.store.loadSubscriptions(
      tenant,
      Array.from({ length: count }, (_, n) => subscriptionRow({ id: `s${from + n}`, createdDate: from + n })),
    );
  const get = (headers: Record<string, string> = {}, query = '') =>
    service.get(`/v1/subscription?size=50${query}`, token, headers);
  const totalOf = async (response: Response) => {
    const records = (await response.json()) as unknown[];
    return [response.headers.get('x-total-count'), records.length];
  };

  beforeAll(async () => {
    service = await startService(await openTestStore());
    tenant = await service.createTenant('acme');
    await load(0, 20);
    token = await service.accessToken(await service.createClient(tenant));
  });
  afterAll(() => service.close());

  test.each(['gzip', 'br', 'zstd', 'identity'])('a %s response is of the newest revision', async (coding) => {
    const headers = { 'accept-encoding': coding };
    const [before] = await totalOf(await get(headers));
    for (let n = 0; n < 3; n += 1) expect((await totalOf(await get(headers)))[0]).toBe(before);
    await load(Number(before), 1);
    const expected = Number(before) + 1;
    expect(await totalOf(await get(headers))).toEqual([String(expected), expected]);
  });

  test('the same page as JSON, CSV and NDJSON is three responses with three tags', async () => {
    const formats = ['application/json', 'text/csv', 'application/x-ndjson'];
    const tags = new Set<string | null>();
    for (const accept of [...formats, ...formats]) {
      const response = await get({ accept });
      expect(response.headers.get('content-type')).toContain(accept);
      expect((await response.text())[0]).toBe({ 'application/json': '[', 'text/csv': 'i' }[accept] ?? '{');
      tags.add(response.headers.get('etag'));
    }
    expect(tags.size).toBe(3);
  });

  test('304 is sent for the tag of the response and for no other', async () => {
    const tag = (await get()).headers.get('etag') ?? '';
    expect((await get({ 'if-none-match': tag })).status).toBe(304);
    for (const other of ['"other"', `"x${tag.slice(1)}`, `${tag.slice(0, -1)}x"`, tag.toUpperCase(), '""'])
      expect([other, (await get({ 'if-none-match': other })).status]).toEqual([other, 200]);
    expect((await get({ 'if-none-match': tag }, '&sort=-createdDate')).status).toBe(200);
  });
});

describe.each(drawn)('OAuth requests under a rate limit on $engine', ({ openTestStore }) => {
  test('count for their client, apart from reports, and without a known client for their address (A 2.4.1)', async () => {
    const service = await startService(await openTestStore(), { RATE_LIMIT_PER_MINUTE: '3' });
    const [tenant] = [await service.createTenant('acme')];
    const [client, other] = [await service.createClient(tenant), await service.createClient(tenant)];
    const form = { grant_type: 'client_credentials', ...client };
    const token = await service.accessToken(client);
    const body = () => new URLSearchParams({ token, ...client });
    expect((await fetch(`${service.url}/oauth2/introspect`, { method: 'POST', body: body() })).status).toBe(200);
    expect((await service.postToken(form)).headers.get('ratelimit')).toMatch(/r=0/);
    const refused = await service.postToken(form);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await expectTokenError(refused, 'slow_down');
    expect((await service.get('/v1/subscription', token)).status).toBe(200);
    const guess = () => service.postToken({ ...form, client_secret: 'wrong' });
    for (let n = 0; n < 3; n += 1) await expectTokenError(await guess(), 'invalid_client');
    await expectTokenError(await guess(), 'slow_down');
    expect((await service.postToken({ grant_type: 'client_credentials', ...other })).status).toBe(200);
    await service.close();
  });
});
