import { request as httpRequest } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, zstdDecompress } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TestStore } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { servicesOnEngines, type TestService } from '../../../../test/support/service.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { disableClient } from '../../storage/tables/client-changes.ts';

const records = [...syntheticRows({ count: 300, seed: 4, until: 1_767_225_600 })];
const rows = records.map((record, n) =>
  subscriptionRow({ id: record.id, createdDate: 1_700_000_000 + n, record: JSON.stringify(record) }),
);
const decoders = { zstd: promisify(zstdDecompress), br: promisify(brotliDecompress), gzip: promisify(gunzip) };

describe.each(servicesOnEngines)('caching, $service on $engine', ({ engine, openTestStore, processes, start }) => {
  /** Some checks look inside the process that responds. */
  const isHere = processes === 1;
  let opened: TestStore;
  let service: TestService;
  let acme: TenantId;
  let token: string;
  let elsewhere: Store;
  const get = (query = '', headers: Record<string, string> = {}, of = token) =>
    service.get(`/v1/subscription${query}`, of, { 'accept-encoding': 'identity', ...headers });
  const tagOf = (response: Response): string => response.headers.get('etag') ?? '';

  let tenants = 0;
  beforeAll(async () => {
    opened = await openTestStore();
    service = await start(opened);
    elsewhere = opened.openAgain();
  });
  beforeEach(async () => {
    tenants += 1;
    acme = await service.createTenant(`acme-${tenants}`);
    token = await service.accessToken(await service.createClient(acme));
    await service.store.loadSubscriptions(acme, rows);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => service.close());

  test.runIf(isHere)('304 for what the client has, without reading a row and without a body', async () => {
    const tag = tagOf(await get('?size=50'));
    const reading = (['readTenant', 'readTenantOnce'] as const).map((name) => vi.spyOn(service.store, name));
    for (const header of [tag, `W/${tag}`, `"other", ${tag}`]) {
      const response = await get('?size=50', { 'if-none-match': header });
      expect([response.status, await response.text(), tagOf(response)]).toEqual([304, '', tag]);
      expect(response.headers.get('cache-control')).toBe('private, no-cache');
      expect(response.headers.get('content-type')).toBeNull();
    }
    for (const each of reading) expect(each).not.toHaveBeenCalled();
    expect((await get('?size=51', { 'if-none-match': tag })).status).toBe(200);
    expect((await get('?size=50', { 'if-none-match': '*' })).status).toBe(304);
  });

  test('one record has an ETag, and a missing record has none', async () => {
    const path = `/${records[0]?.id}`;
    const tag = tagOf(await get(path));
    expect((await get(path, { 'if-none-match': tag })).status).toBe(304);
    await expectProblem(await get('/nobody', { 'if-none-match': '*' }), 'NOT_FOUND');
    await expectProblem(await get('/nobody', { 'if-none-match': tag }), 'NOT_FOUND');
  });

  test('a change by another process is in the next response', async () => {
    const tag = tagOf(await get('?size=1000'));
    for (let n = 0; n < 20; n += 1) {
      await elsewhere.loadSubscriptions(acme, [subscriptionRow({ id: `new-${n}`, createdDate: 1_800_000_000 + n })]);
      const response = await get('?size=1000', { 'if-none-match': tag });
      expect([response.status, response.headers.get('x-total-count')]).toEqual([200, String(301 + n)]);
    }
  });

  test('a disabled client gets no response, even one that it has', async () => {
    const client = await service.createClient(acme);
    const other = await service.accessToken(client);
    for (let n = 0; n < 3; n += 1) await get('?size=50', {}, other);
    await disableClient(elsewhere, client.client_id, 1);
    const seen = async () => (await get('?size=50', {}, other)).status;
    if (engine === 'sqlite') expect(await seen()).toBe(401);
    else await expect.poll(seen).toBe(401);
  });

  test('an import that changes nothing keeps the ETag', async () => {
    const tag = tagOf(await get('?size=50'));
    await elsewhere.loadSubscriptions(acme, rows.slice(0, 10));
    expect((await get('?size=50', { 'if-none-match': tag })).status).toBe(304);
  });

  test('two tenants never share an ETag', async () => {
    const globex = await service.createTenant('globex');
    await service.store.loadSubscriptions(globex, [subscriptionRow({ id: 'theirs' })]);
    const theirs = await service.accessToken(await service.createClient(globex));
    for (const query of ['', '?size=50', '?status=ACTIVE', '?size=1000']) {
      const [ours, other] = [await get(query), await get(query, {}, theirs)];
      expect(tagOf(ours)).not.toBe(tagOf(other));
      expect(await other.text()).not.toBe(await ours.text());
      expect((await get(query, { 'if-none-match': tagOf(ours) }, theirs)).status).toBe(200);
    }
  });

  test('two lists of fields, zones of dates or other parameters have no response and no ETag in common, and none outlives an erased record', async () => {
    const [{ id = '' } = {}] = records;
    const lists = [
      '',
      '&fields=id',
      '&fields=id,iccid',
      '&fields=iccid,id',
      '&fields=product',
      '&fields=id&format=csv',
      '&format=csv',
      '&format=ndjson',
      '&format=csv&zone=Europe/Berlin',
      '&format=csv&zone=Europe/Berlin&dates=local',
      '&format=csv&zone=Asia/Tokyo&dates=local',
      '&format=csv&zone=Asia/Tokyo&dates=local&fields=id,createdDate',
    ];
    const paths = [
      ...lists.map((list) => `?size=300${list}`),
      ...lists.slice(0, 4).map((list) => `/${id}?${list.slice(1)}`),
      ...['?size=5', '?size=5&page=2', '?status=ACTIVE', '?sort=-createdDate', '?date-field=expiration'],
    ];
    const first = await Promise.all(paths.map((path) => get(path)));
    const tags = first.map(tagOf);
    expect(new Set(tags).size).toBe(paths.length);
    for (const { headers } of first) expect(headers.get('vary')).toBe('Authorization, Accept, Accept-Encoding');
    const texts = await Promise.all(first.map((response) => response.text()));
    for (const [at, path] of paths.entries()) {
      const header = { 'if-none-match': tags.join(', ') };
      expect([path, tagOf(await get(path, header))]).toEqual([path, tags[at]]);
      expect([path, await (await get(path)).text()]).toEqual([path, texts[at]]);
    }
    expect(texts.slice(0, 4).map((text) => text.includes(id))).toEqual(Array(4).fill(true));
    await elsewhere.deleteSubscriptions(acme, [id]);
    for (const [at, path] of paths.entries()) {
      const response = await get(path, { 'if-none-match': tags.join(', ') });
      expect([path, response.status]).toEqual([path, path.startsWith('/') ? 404 : 200]);
      expect(await response.text()).not.toContain(id);
      expect(tagOf(response)).not.toBe(tags[at]);
    }
  });

  describe.runIf(isHere)('content codings', () => {
    const raw = (query: string, headers: Record<string, string>) =>
      new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
        const url = `${service.baseUrl}/v1/subscription${query}`;
        const sent = httpRequest(url, { headers: { authorization: `Bearer ${token}`, ...headers } }, (response) => {
          const chunks: Uint8Array[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
          );
        });
        sent.on('error', reject);
        sent.end();
      });

    test.each([
      ['gzip', 'gzip'],
      ['br', 'br'],
      ['zstd', 'zstd'],
      ['gzip, deflate, br, zstd', 'zstd'],
    ] as const)('Accept-Encoding: %s gives %s, with a tag of its own', async (accept, coding) => {
      const plain = await raw('?size=100', {});
      const coded = await raw('?size=100', { 'accept-encoding': accept });
      expect([plain.headers['content-encoding'], coded.headers['content-encoding']]).toEqual([undefined, coding]);
      expect(String(await decoders[coding](coded.body))).toBe(String(plain.body));
      expect(coded.body.length).toBeLessThan(plain.body.length / 3);
      expect(coded.headers['content-length']).toBe(String(coded.body.length));
      expect(coded.headers.etag).not.toBe(plain.headers.etag);
      for (const { headers } of [plain, coded]) {
        const again = await raw('?size=100', { 'accept-encoding': accept, 'if-none-match': String(headers.etag) });
        expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, headers.etag]);
      }
      const any = await raw('?size=100', { 'accept-encoding': accept, 'if-none-match': '*' });
      expect([any.status, any.headers.etag]).toEqual([304, coded.headers.etag]);
    });

    test('a small response is not compressed', async () => {
      expect((await raw('?size=1', { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBeUndefined();
    });
  });
});
