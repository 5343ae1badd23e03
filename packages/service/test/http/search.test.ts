import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';

const drawn = drawOne(engines, import.meta.url);

const path = '/v1/subscription/search';
const date = '2024-05-01T00:00:00Z';

describe.each(drawn)('searching on $engine', ({ openTestStore }) => {
  let service: TestService;
  let client: TestClient;
  let token: string;

  const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, target = path) =>
    fetch(`${service.baseUrl}${target}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body,
    });
  const search = (members: object) => post(JSON.stringify(members));
  const idsOf = async (response: Response): Promise<string[]> => {
    expect(response.status).toBe(200);
    return ((await response.json()) as { id: string }[]).map(({ id }) => id);
  };

  beforeAll(async () => {
    service = await startService(await openTestStore());
    const acme = await service.createTenant('acme');
    client = await service.createClient(acme);
    token = await service.accessToken(client);
    const rows = Array.from({ length: 50 }, (_, n) =>
      subscriptionRow({
        id: `s${String(n).padStart(2, '0')}`,
        createdDate: 1_714_521_600 + n,
        status: ['ACTIVE', 'DEPLETED', 'EXPIRED'][n % 3] ?? null,
        email: `user${n % 2}@example.com`,
        deviceId: `device-${n % 5}`,
        autoRenew: String(n % 4 === 0),
      }),
    );
    await service.store.loadSubscriptions(acme, rows);
    const globex = await service.createTenant('globex');
    await service.store.loadSubscriptions(globex, [subscriptionRow({ id: 'of-globex' })]);
  });
  afterAll(() => service.close());

  test('a compressed body is 415, and says that it must not be compressed', async () => {
    const response = await post(new Uint8Array(gzipSync('{}')), { 'content-encoding': 'gzip' });
    const { messages } = await expectProblem(response, 'UNSUPPORTED_MEDIA_TYPE');
    expect(messages).toEqual([expect.stringContaining("'content-encoding' must be absent")]);
  });

  test.each<[object, string]>([
    [{}, ''],
    [{ size: 7, page: 3 }, 'size=7&page=3'],
    [{ email: 'USER1@example.com', size: 10 }, 'email=USER1@example.com&size=10'],
    [{ status: ['EXPIRED', 'ACTIVE'] }, 'status=EXPIRED,ACTIVE'],
    [{ status: 'EXPIRED,ACTIVE' }, 'status=EXPIRED,ACTIVE'],
    [{ 'auto-renew': true }, 'auto-renew=true'],
    [{ 'auto-renew': 'false', 'device-id': 'device-3' }, 'auto-renew=false&device-id=device-3'],
    [
      { sort: '-createdDate', 'created-from': '2024-05-01T00:00:10Z' },
      'sort=-createdDate&created-from=2024-05-01T00:00:10Z',
    ],
    [{ before: '2024-05-01T00:00:20+00:00', after: date }, `before=2024-05-01T00:00:20Z&after=${date}`],
    [{ 'expires-within': 'P7D', 'plan-id': 'none' }, 'expires-within=7d&plan-id=none'],
    [{ status: ['NONE'], page: 9 }, 'status=NONE&page=9'],
    [{ fields: ['iccid', 'product.name', 'id'] }, 'fields=iccid,product.name,id'],
    [{ fields: 'product,id', all: true, format: 'csv' }, 'fields=product,id&all=true&format=csv'],
  ])('%j answers as GET with %s does', async (members, query) => {
    const [posted, got] = [await search(members), await service.get(`/v1/subscription?${query}`, token)];
    expect([posted.status, await posted.text()]).toEqual([200, await got.text()]);
    const same = [
      'x-total-count',
      'x-total-pages',
      'x-current-page',
      'x-count-per-page',
      'content-type',
      'cache-control',
    ];
    for (const name of same) expect([name, posted.headers.get(name)]).toEqual([name, got.headers.get(name)]);
  });

  test('following X-Next-Cursor reads the whole report, and X-Previous-Cursor leads back', async () => {
    const query = { email: 'user0@example.com', size: 4, sort: '-createdDate' };
    const walk = async (header: string, first: object) => {
      const pages: string[][] = [];
      let cursor: string | null = null;
      do {
        const response: Response = await search(cursor === null ? first : { ...query, cursor });
        cursor = response.headers.get(header);
        pages.push(await idsOf(response));
      } while (cursor !== null);
      return pages;
    };
    const forward = await walk('x-next-cursor', query);
    const expected = Array.from({ length: 25 }, (_, n) => `s${String(48 - 2 * n).padStart(2, '0')}`);
    expect(forward.flat()).toEqual(expected);
    expect(forward).toHaveLength(7);
    expect((await walk('x-previous-cursor', { ...query, page: 7 })).reverse()).toEqual(forward);
  });

  test('no header of a search response contains the email or a URL to follow', async () => {
    const response = await search({ email: 'user0@example.com', size: 4, page: 2 });
    const headers = JSON.stringify([...response.headers]);
    expect(headers).not.toMatch(/user0|%40/);
    for (const name of ['x-next-page', 'x-previous-page', 'link']) expect(response.headers.get(name)).toBeNull();
    expect(response.headers.get('x-applied-filters')).toBe('email=***&date-field=created&sort=createdDate');
    expect(response.headers.get('x-next-cursor')).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(service.logText()).not.toContain('user0');
  });

  test('a cursor is valid for the query that it came from, as a search or as a URL', async () => {
    const got = await service.get('/v1/subscription?size=5&status=EXPIRED,ACTIVE', token);
    const cursor = new URL(got.headers.get('x-next-page') ?? '').searchParams.get('cursor');
    const next = await idsOf(await search({ size: 5, status: ['ACTIVE', 'EXPIRED'], cursor }));
    expect(next).toEqual(await idsOf(await service.get(`/v1/subscription?size=5&status=EXPIRED,ACTIVE&page=2`, token)));
    const { errors } = await expectProblem(await search({ size: 6, cursor }), 'INVALID_REQUEST_PARAMS');
    expect(errors).toMatchObject([{ parameter: 'cursor', value: null }]);
  });

  test.each<[string, unknown, string | null, string]>([
    ['size', '5', '"5"', 'a JSON number'],
    ['size', 0, '0', 'an integer from 1'],
    ['size', 1001, '1001', 'an integer from 1'],
    ['size', 1.5, '1.5', 'an integer from 1'],
    ['size', null, 'null', 'a JSON number'],
    ['page', true, 'true', 'a JSON number'],
    ['status', [], '', 'at most 16 statuses'],
    ['status', ['ACTIVE', 1], '["ACTIVE",1]', 'a string or an array of single ones'],
    ['status', ['a\nb'], 'a\nb', 'at most 16 statuses'],
    ['status', Array(17).fill('A'), Array(17).fill('A').join(), 'at most 16 statuses'],
    ['status', ['ACTIVE,DEPLETED'], '["ACTIVE,DEPLETED"]', 'a string or an array of single ones'],
    ['fields', ['id', 'iccid,status'], '["id","iccid,status"]', 'a string or an array of single ones'],
    ['auto-renew', 1, '1', 'a JSON boolean or its word'],
    ['auto-renew', 'TRUE', 'TRUE', 'true or false'],
    ['iccid', 8944500102198304, '8944500102198304', 'a JSON string'],
    ['product-id', 'a\u0000b', 'a\u0000b', 'without control characters'],
    ['product-id', 'a\udc00', '"a\\udc00"', 'a JSON string'],
    ['plan-id', ['a'], '["a"]', 'a JSON string'],
    ['email', ['ada@example.com'], null, 'a JSON string'],
    ['email', 'ada lovelace@example.com', null, 'without whitespace'],
    ['expires-within', 7, '7', 'a JSON string'],
  ])('%s of %j is refused with its rule', async (name, value, shown, rule) => {
    const { errors } = await expectProblem(await search({ [name]: value }), 'INVALID_REQUEST_PARAMS');
    expect(errors).toEqual([{ parameter: name, value: shown, rule: expect.stringContaining(rule) }]);
    expect(errors[0]?.rule).toMatch(/, such as |^one of |true or false$/);
  });

  test.each(['before', 'after', 'created-from', 'created-to'])(
    'a search whose %s is not a date cannot be read',
    async (name) => {
      const { errors } = await expectProblem(await search({ [name]: '2024-02-30T00:00:00Z' }), 'INVALID_HTTP_MESSAGE');
      expect(errors).toMatchObject([{ parameter: name }]);
      expect((await expectProblem(await search({ [name]: 1 }), 'INVALID_REQUEST_PARAMS')).errors).toMatchObject([
        { parameter: name, value: '1' },
      ]);
    },
  );

  test('unknown and repeated members of a search are rejected with a suggestion, nested ones are ignored', async () => {
    const unknown = '{"Status":"ACTIVE","foo":{"size":1},"__proto__":{},"siz\\u0065":1,"size":2}';
    const problem = await expectProblem(await post(unknown), 'INVALID_REQUEST_PARAMS');
    expect(problem.errors.map(({ parameter }) => parameter)).toEqual(['Status', 'foo', '__proto__', 'size']);
    expect(problem.messages[0]).toContain("did you mean 'status'?");
    expect(problem.errors[3]).toEqual({ parameter: 'size', value: null, rule: 'given only once' });
    const twice = await expectProblem(
      await post('{"status":"ACTIVE" , "status" :\n"ACTIVE"}'),
      'INVALID_REQUEST_PARAMS',
    );
    expect(twice.errors).toMatchObject([{ parameter: 'status', rule: 'given only once' }]);
    expect(await idsOf(await post('{"device-id":"\\"size\\":1,{[","size":1}'))).toEqual([]);
  });

  test.each(['', '{', '[]', 'null', '{"size":5}x', '{"size":05}', 'size=5', '['.repeat(16_000)])(
    'a body of %j cannot be read',
    async (body) => {
      const { errors, messages } = await expectProblem(await post(body), 'INVALID_HTTP_MESSAGE');
      expect([errors, messages.length]).toEqual([[], 1]);
      expect(messages[0]).toContain('{"status":["ACTIVE"],"size":50}');
    },
  );

  test('a search body that is not UTF-8 is rejected without echoing it', async () => {
    await expectProblem(await post(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])), 'INVALID_HTTP_MESSAGE');
    const broken = await post('{"email":"grace@example.com",');
    expect(await broken.text()).not.toContain('grace');
  });

  test('a search without a body is rejected', async () => {
    const response = await fetch(`${service.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    await expectProblem(response, 'INVALID_HTTP_MESSAGE');
  });

  test('a search body over 256 KiB gets 413', async () => {
    expect((await post(`{}${' '.repeat(262_142)}`)).status).toBe(200);
    await expectProblem(await post(`{}${' '.repeat(262_143)}`), 'PAYLOAD_TOO_LARGE');
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'application/jsonx'])(
    'a body of type %s is of a type that is not taken',
    async (type) => {
      await expectProblem(await post('{}', { 'content-type': type }), 'UNSUPPORTED_MEDIA_TYPE');
    },
  );

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset="UTF-8"'])(
    'a search body of type %s is accepted',
    async (type) => {
      expect((await post('{}', { 'content-type': type })).status).toBe(200);
    },
  );

  test('a search rejects parameters in the URL, as they belong in the body', async () => {
    const response = await post('{}', {}, `${path}?status=ACTIVE&email=grace%40example.com`);
    const problem = await expectProblem(response, 'INVALID_REQUEST_PARAMS');
    expect(problem.errors.map(({ parameter }) => parameter)).toEqual(['status', 'email']);
    expect(problem.messages[0]).toContain('members of its body');
    expect(JSON.stringify(problem)).not.toContain('grace');
  });

  test('a search needs a token before its body is read, and an acceptable format', async () => {
    await expectProblem(await post('{', { authorization: '' }), 'UNAUTHORISED');
    await expectProblem(await post('{', { authorization: '', 'content-type': 'text/plain' }), 'UNAUTHORISED');
    await expectProblem(await post('{}', { accept: 'text/html' }), 'UNACCEPTABLE');
  });

  test("a search does not find another tenant's records", async () => {
    const response = await search({ sort: '-createdDate', size: 1000 });
    const ids = await idsOf(response);
    expect(ids.length).toBe(Number(response.headers.get('x-total-count')));
    expect(ids).toContain('s00');
    expect(ids).not.toContain('of-globex');
  });

  test('X-Applied-Filters shows equal filters of GET and search in the same way', async () => {
    const applied = async (query: string) =>
      (await service.get(`/v1/subscription?${query}`, token)).headers.get('x-applied-filters');
    expect(await applied('')).toBe('date-field=created&sort=createdDate');
    expect(
      await applied('size=3&status=EXPIRED,ACTIVE,ACTIVE&before=2024-05-01T02:00:00.500%2B0200&product-id=a%20b%2Fc'),
    ).toBe(
      'product-id=a%20b%2Fc&status=ACTIVE%2CEXPIRED&before=2024-05-01T00%3A00%3A00.5Z&date-field=created&sort=createdDate',
    );
    expect(await applied('email=Ada%40Example.com')).toBe('email=***&date-field=created&sort=createdDate');
    const expiry = new URLSearchParams((await applied('expires-within=36h')) ?? '');
    expect(expiry.get('expires-within')).toBe('P1DT12H');
    const [start, end] = [expiry.get('expires-after'), expiry.get('expires-until')].map((text) =>
      Date.parse(text ?? ''),
    );
    expect(Number(end) - Number(start)).toBe(36 * 3_600_000);
    expect(Math.abs(Date.now() - Number(start))).toBeLessThan(60_000);
  });
});
