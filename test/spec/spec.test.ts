import { decodeJwt } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TokenResponse } from '../../packages/contract/oauth/token.ts';
import type { Subscription } from '../../packages/contract/subscription.ts';
import { importRecords } from '../../packages/service/import/import-records.ts';
import type { RejectedRow } from '../../packages/service/import/read-valid-rows.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { drawOne } from '../support/draw.ts';
import { engines } from '../support/engines.ts';
import { expectProblem, expectTokenError } from '../support/expect-error.ts';
import { startService, type TestClient, type TestService } from '../support/service.ts';

const drawn = drawOne(engines, import.meta.url);

// Every statement of the specification, under its headings.

const period30 = {
  id: 'cHJvZHVjdC0zMA',
  name: 'Europe 5 GB, 30 days',
  period: 30,
  period_unit: 'DAYS',
  plan_id: 'cGxhbi1ldXJvcGU',
};
const period0 = { id: 'cHJvZHVjdC0xNQ==', name: 'Asia 15-Day', period: 0, period_unit: 'DAYS', plan_id: 'plan_asia-2' };

const ordinary: Subscription = {
  id: 'c3Vic2NyaXB0aW9uLTAwMDE',
  status: 'ACTIVE',
  activationDate: '2024-05-01T08:00:00Z',
  expirationDate: '2024-05-31T08:00:00Z',
  createdDate: '2024-05-01T08:00:00Z',
  product: period30,
  iccid: '8944500102198304826',
  device_id: 'device-000417',
  auto_renew: 'true',
};
const { status: _status, ...withoutStatus } = {
  ...ordinary,
  id: 'c29tZS_vdGhlcg-',
  createdDate: '2024-05-04T00:00:00Z',
};
const depleted: Subscription = {
  ...ordinary,
  id: 'ZGVwbGV0ZWQtMDAwMg==',
  status: 'DEPLETED',
  createdDate: '2024-05-02T00:00:00Z',
  iccid: '8944500102198304',
  auto_renew: 'false',
};
const ofPeriod0: Subscription = { ...ordinary, id: 'c18x-Pw=', createdDate: '2024-05-03T00:00:00Z', product: period0 };
const createdLater: Subscription = {
  ...ordinary,
  id: 'created-later',
  activationDate: '2024-05-05T10:00:00Z',
  createdDate: '2024-05-05T10:00:07Z',
};
const renewing: Subscription = { ...ordinary, id: 'renews', createdDate: '2024-05-06T00:00:00Z', auto_renew: 'true' };
const ending: Subscription = { ...ordinary, id: 'ends', createdDate: '2024-05-07T00:00:00Z', auto_renew: 'false' };

/** Records as the report must return them, in its order. */
const records: readonly Subscription[] = [ordinary, depleted, ofPeriod0, withoutStatus, createdLater, renewing, ending];
/**
 * The same records as in their source: two with a JSON boolean, and with email addresses, which
 * are not part of a record.
 */
const sources = records.map((record, index) => ({
  ...record,
  ...(record === renewing && { auto_renew: true }),
  ...(record === ending && { auto_renew: false }),
  email: `user${index % 3}@example.com`,
}));

async function load(service: TestService, tenant: TenantId, rows: readonly object[]): Promise<readonly RejectedRow[]> {
  const rejected: RejectedRow[] = [];
  const source = (async function* () {
    yield Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'));
  })();
  const onRejected = (row: RejectedRow): void => {
    rejected.push(row);
  };
  await importRecords(service.store, tenant, source, { format: 'ndjson', dryRun: false, onRejected });
  return rejected;
}

const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

describe.each(drawn)('the specification on $engine', ({ openTestStore }) => {
  let service: TestService;
  let acme: TenantId;
  let client: TestClient;
  let token: string;

  const listed = async (query = '', of = token): Promise<Subscription[]> => {
    const response = await service.get(`/v1/subscription${query === '' ? '' : `?${query}`}`, of);
    expect(response.status).toBe(200);
    return (await response.json()) as Subscription[];
  };
  const idsOf = async (query: string, of = token) => (await listed(query, of)).map(({ id }) => id);
  /** Returns a token for a new tenant with these source rows. */
  const tenantWith = async (name: string, rows: readonly object[]): Promise<string> => {
    const tenant = await service.createTenant(name);
    await load(service, tenant, rows);
    return service.accessToken(await service.createClient(tenant));
  };
  const issue = async (fields: Record<string, string>): Promise<TokenResponse> => {
    const response = await service.postToken(fields);
    expect(response.status).toBe(200);
    return (await response.json()) as TokenResponse;
  };
  const refresh = (refreshToken: string, of = client) =>
    service.postToken({ grant_type: 'refresh_token', refresh_token: refreshToken, ...of });
  const refreshTokenOf = ({ refresh_token: refreshToken }: TokenResponse): string => {
    if (refreshToken === undefined) throw new TypeError('the token response has no refresh token');
    return refreshToken;
  };

  beforeAll(async () => {
    // the default lifetime is tested here
    service = await startService(await openTestStore(), { ACCESS_TOKEN_SECONDS: '' });
    acme = await service.createTenant('acme');
    client = await service.createClient(acme);
    expect(await load(service, acme, sources)).toEqual([]);
  });
  beforeEach(async () => {
    token = await service.accessToken(client);
  });
  afterAll(() => service.close());

  describe('What the service does', () => {
    test('an authenticated client reads a report of its own subscriptions and of no others', async () => {
      const theirs = { ...ordinary, id: 'of-globex', iccid: '8944500102198304899' };
      const globex = await tenantWith('globex', [theirs]);
      expect(await listed('', globex)).toEqual([theirs]);
      expect(await listed()).toEqual(records);
      await expectProblem(await service.get(`/v1/subscription/${theirs.id}`, token), 'NOT_FOUND');
    });

    test('the operation can be narrowed by filters and is paged', async () => {
      expect(await idsOf('status=ACTIVE&size=2&page=2')).toEqual([createdLater.id, renewing.id]);
    });

    test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('the report is read-only: %s is not allowed', async (method) => {
      const headers = { authorization: `Bearer ${token}` };
      for (const path of ['', `/${ordinary.id}`]) {
        const response = await fetch(`${service.baseUrl}/v1/subscription${path}`, { method, headers });
        await expectProblem(response, 'METHOD_NOT_ALLOWED');
      }
      expect(await listed()).toEqual(records);
    });
  });

  describe('Resources and their fields › Subscription record', () => {
    test('the report is an array of JSON objects, equal in every field to the loaded rows', async () => {
      expect(await listed()).toStrictEqual(records);
    });

    test('one record by its id is the same object, even if the id ends in =', async () => {
      for (const record of records) {
        const response = await service.get(`/v1/subscription/${record.id}`, token);
        expect([response.status, await response.json()]).toStrictEqual([200, record]);
        const encoded = await service.get(`/v1/subscription/${encodeURIComponent(record.id)}`, token);
        expect(await encoded.json()).toStrictEqual(record);
      }
    });

    test('every record has the fields of the table with their types, and no others', async () => {
      for (const { status, ...record } of await listed()) {
        expect(record).toStrictEqual({
          id: expect.stringMatching(/^[A-Za-z0-9_-]+={0,2}$/),
          activationDate: expect.stringMatching(timestamp),
          expirationDate: expect.stringMatching(timestamp),
          createdDate: expect.stringMatching(timestamp),
          product: expect.any(Object),
          iccid: expect.stringMatching(/^\d+$/),
          device_id: expect.any(String),
          auto_renew: expect.stringMatching(/^(true|false)$/),
        });
        expect(['string', 'undefined']).toContain(typeof status);
      }
    });

    test('id is opaque: ids that differ only in case, in - and _, or in padding are different subscriptions', async () => {
      const ids = ['abc', 'ABC', 'Abc', 'a-c', 'a_c', 'abc=', 'abc=='];
      const own = await tenantWith(
        'opaque',
        ids.map((id) => ({ ...ordinary, id })),
      );
      expect((await idsOf('', own)).toSorted()).toEqual(ids.toSorted());
      for (const id of ids) {
        const response = await service.get(`/v1/subscription/${id}`, own);
        expect(await response.json()).toMatchObject({ id });
      }
    });

    test('status: a record may omit it, and then has no such field', async () => {
      const response = await service.get(`/v1/subscription/${withoutStatus.id}`, token);
      expect(await response.text()).not.toContain('status');
      const own = await tenantWith('no-status', [
        { ...ordinary, id: 'null', status: null },
        { ...withoutStatus, id: 'absent' },
      ]);
      expect(await listed('', own)).toStrictEqual([
        { ...withoutStatus, createdDate: ordinary.createdDate, id: 'null' },
        { ...withoutStatus, id: 'absent' },
      ]);
    });

    test.each(Object.keys(ordinary).filter((name) => name !== 'status'))(
      '%s is required: a row without it is not loaded, one that is null neither',
      async (name) => {
        const tenant = await service.createTenant(`without-${name.replace('_', '-').toLowerCase()}`);
        const { [name as keyof Subscription]: _left, ...incomplete } = ordinary;
        const rejected = await load(service, tenant, [incomplete, { ...ordinary, [name]: null }, ordinary]);
        expect(rejected.map(({ line, errors }) => [line, errors.map(({ field }) => field)])).toEqual([
          [1, [name]],
          [2, [name]],
        ]);
        expect(await listed('', await service.accessToken(await service.createClient(tenant)))).toEqual([ordinary]);
      },
    );

    test('dates are ISO 8601 in UTC, yyyy-MM-ddTHH:mm:ssZ, whatever the source contains', async () => {
      const own = await tenantWith('dates', [
        {
          ...ordinary,
          activationDate: '2024-02-29T23:30:00.999999999-00:30',
          expirationDate: '2024-05-31T08:00:00.5Z',
          createdDate: '2024-05-01T10:00:00+0200',
        },
      ]);
      expect(await listed('', own)).toEqual([{ ...ordinary, activationDate: '2024-03-01T00:00:00Z' }]);
    });

    test('iccid is digits: a value of 16 digits is returned exactly', async () => {
      expect((await listed('iccid=8944500102198304')).map(({ id, iccid }) => [id, iccid])).toEqual([
        [depleted.id, '8944500102198304'],
      ]);
    });

    test('auto_renew is the string true or false, even if the source has a JSON boolean', async () => {
      const response = await service.get('/v1/subscription', token);
      const text = await response.text();
      const values = [...text.matchAll(/"auto_renew":([^,}]+)/g)].map(([, value]) => value);
      expect(values).toEqual(records.map(({ auto_renew: word }) => `"${word}"`));
    });

    test("the subscriber's email address is not a field of a record", async () => {
      const response = await service.get('/v1/subscription', token);
      expect(await response.text()).not.toMatch(/email|example\.com/);
    });
  });

  describe('Resources and their fields › Product object (field product)', () => {
    test('every product has the fields of the table with their types, and no others', async () => {
      for (const { product } of await listed()) {
        expect(product).toStrictEqual({
          id: expect.any(String),
          name: expect.any(String),
          period: expect.any(Number),
          period_unit: expect.any(String),
          plan_id: expect.any(String),
        });
        expect(product.period).toSatisfy(Number.isInteger);
      }
    });

    test('period is an integer in period_unit, and may be 0', async () => {
      const [record] = await listed(`product-id=${encodeURIComponent(period0.id)}`);
      expect(record?.product).toStrictEqual(period0);
    });

    test('a period that is no whole number, or negative, is rejected', async () => {
      const tenant = await service.createTenant('periods');
      const rows = ['30 days', 1.5, -1].map((period) => ({ ...ordinary, product: { ...period30, period } }));
      const rejected = await load(service, tenant, rows);
      expect(rejected.map(({ errors }) => errors.map(({ field }) => field))).toEqual(
        rows.map(() => ['product.period']),
      );
    });

    test('name is for people: letters of every script are returned unchanged', async () => {
      const name = 'Übersee «7 Tage» – 日本 🛰 "x" \\ </script>';
      const own = await tenantWith('names', [{ ...ordinary, product: { ...period30, name } }]);
      expect((await listed('', own))[0]?.product.name).toBe(name);
    });
  });

  describe('States and transitions', () => {
    test('status carries the state DEPLETED', async () => {
      expect(await listed('status=DEPLETED')).toStrictEqual([depleted]);
    });

    test("the service changes no record's state, even after its expirationDate", async () => {
      expect((await listed()).map(({ status }) => status)).toEqual(records.map((record) => record.status));
      expect(Date.parse(ordinary.expirationDate)).toBeLessThan(Date.now());
    });

    test('the state is that of the last import', async () => {
      const tenant = await service.createTenant('states');
      const own = await service.accessToken(await service.createClient(tenant));
      for (const status of ['ACTIVE', 'DEPLETED', undefined, 'DEPLETED']) {
        await load(service, tenant, [{ ...withoutStatus, status }]);
        expect((await listed('', own)).map((record) => record.status)).toEqual([status]);
        expect(await idsOf('status=DEPLETED', own)).toHaveLength(status === 'DEPLETED' ? 1 : 0);
      }
    });
  });

  describe('Endpoints › GET {base_url}/v1/subscription', () => {
    test('{base_url} is the service root with the prefix connect-api', async () => {
      expect(new URL(service.baseUrl).pathname).toBe('/connect-api');
      const headers = { authorization: `Bearer ${token}` };
      expect((await fetch(`${service.url}/connect-api/v1/subscription`, { headers })).status).toBe(200);
      await expectProblem(await fetch(`${service.url}/v1/subscription`, { headers }), 'NOT_FOUND');
    });

    describe('Request headers', () => {
      test('Authorization: Bearer <ACCESS_TOKEN> is required', async () => {
        expect((await service.get('/v1/subscription', token)).status).toBe(200);
        await expectProblem(await fetch(`${service.baseUrl}/v1/subscription`), 'UNAUTHORISED');
      });

      test.each([
        ['Cache-Control', 'no-cache'],
        ['Content-Type', 'application/json'],
        ['X-Correlation-ID', '5e1f6c1e-unique/per request 42'],
      ])('%s is optional, and %s is accepted', async (name, value) => {
        const response = await service.get('/v1/subscription', token, { [name]: value });
        expect([response.status, await response.json()]).toEqual([200, records]);
      });

      test('all of them together are accepted, as a client sends them', async () => {
        const response = await service.get('/v1/subscription?size=1', token, {
          'Cache-Control': 'no-cache',
          'Content-Type': 'application/json',
          'X-Correlation-ID': 'abc-123',
        });
        expect(await response.json()).toEqual([ordinary]);
      });

      test('X-Correlation-ID traces the request: it is in the response and in the log line', async () => {
        const id = `trace-${crypto.randomUUID()}`;
        const response = await service.get('/v1/subscription', token, { 'X-Correlation-ID': id });
        expect(response.headers.get('x-correlation-id')).toBe(id);
        const line = expect.objectContaining({ correlation_id: id, status: 200, client_id: client.client_id });
        await expect.poll(() => service.log).toContainEqual(line);
      });
    });

    describe('Query parameters', () => {
      test('all are optional', async () => {
        expect(await listed()).toEqual(records);
      });

      test('iccid returns only subscriptions of this ICCID', async () => {
        const others = records.filter((record) => record !== depleted).map(({ id }) => id);
        expect(await idsOf(`iccid=${ordinary.iccid}`)).toEqual(others);
        expect(await idsOf(`iccid=${depleted.iccid}`)).toEqual([depleted.id]);
        expect(await idsOf('iccid=8944500102198304827')).toEqual([]);
      });

      test('product-id returns only subscriptions with exactly this product id', async () => {
        expect(await idsOf('product-id=cHJvZHVjdC0xNQ%3D%3D')).toEqual([ofPeriod0.id]);
        expect(await idsOf('product-id=cHJvZHVjdC0xNQ==')).toEqual([ofPeriod0.id]);
        for (const other of ['cHJvZHVjdC0xNQ', 'CHJVZHVJDC0XNQ%3D%3D', 'cHJvZHVjdC0', '%25']) {
          expect(await idsOf(`product-id=${other}`)).toEqual([]);
        }
      });

      test.each(['2024-05-03T00:00:00Z', '2024-05-03T00:00:00.000Z'])(
        'before and after %s: only subscriptions before, only subscriptions after this instant',
        async (instant) => {
          expect(await idsOf(`before=${instant}`)).toEqual([ordinary.id, depleted.id]);
          expect(await idsOf(`after=${instant}`)).toEqual(records.slice(3).map(({ id }) => id));
        },
      );

      test('before and after take fractions of a second into account', async () => {
        expect(await idsOf('before=2024-05-02T00:00:00.002Z')).toEqual([ordinary.id, depleted.id]);
        expect(await idsOf('after=2024-05-06T00:00:00.002Z')).toEqual([ending.id]);
      });

      test('size and page: all pages together are the report', async () => {
        for (const size of [1, 2, 3, 7, 8]) {
          const pages: Subscription[][] = [];
          for (let page = 1; page <= Math.ceil(records.length / size); page += 1) {
            pages.push(await listed(`size=${size}&page=${page}`));
          }
          expect(pages).toEqual(pages.map((_, index) => records.slice(index * size, (index + 1) * size)));
          expect(pages.flat()).toEqual(records);
        }
      });

      test("a filter on the subscriber's email address exists", async () => {
        for (const user of [0, 1, 2]) {
          const expected = records.filter((_, index) => index % 3 === user).map(({ id }) => id);
          expect(await idsOf(`email=user${user}%40example.com`)).toEqual(expected);
        }
        expect(await idsOf('email=user3%40example.com')).toEqual([]);
      });

      const filters: Readonly<Record<string, (record: Subscription, index: number) => boolean>> = {
        'iccid=8944500102198304826': ({ iccid }) => iccid === ordinary.iccid,
        'product-id=cHJvZHVjdC0zMA': ({ product }) => product.id === period30.id,
        'before=2024-05-06T00:00:00Z': ({ createdDate }) => createdDate < '2024-05-06T00:00:00Z',
        'after=2024-05-01T08:00:00Z': ({ createdDate }) => createdDate > '2024-05-01T08:00:00Z',
        'email=user1%40example.com': (_record, index) => index % 3 === 1,
        'status=ACTIVE': ({ status }) => status === 'ACTIVE',
      };
      const combinations = Object.keys(filters).reduce<string[][]>(
        (sets, filter) => sets.flatMap((set) => [set, [...set, filter]]),
        [[]],
      );

      test.each(combinations.map((set) => set.join('&')))('filters are combined with AND: %s', async (query) => {
        const chosen = query.split('&').map((filter) => filters[filter] ?? (() => true));
        const expected = records.filter((record, index) => chosen.every((fits) => fits(record, index)));
        expect(await listed(query)).toEqual(expected);
      });
    });

    describe('Request body', () => {
      test('a GET without a body and without its headers returns the report', async () => {
        const response = await fetch(`${service.baseUrl}/v1/subscription`, {
          headers: { authorization: `Bearer ${token}` },
        });
        expect(await response.json()).toEqual(records);
      });
    });

    describe('Response', () => {
      test('is a JSON array with one element for each subscription on the requested page', async () => {
        const response = await service.get('/v1/subscription?size=3&page=3', token);
        expect(response.headers.get('content-type')).toMatch(/^application\/json(;|$)/);
        expect(await response.json()).toStrictEqual([ending]);
      });

      test('is an empty array if there are no subscriptions', async () => {
        const own = await tenantWith('empty', []);
        const response = await service.get('/v1/subscription', own);
        expect([response.status, await response.text()]).toEqual([200, '[]']);
      });
    });
  });

  describe('Authentication', () => {
    afterEach(() => {
      vi.useRealTimers();
    });
    /** Sets the clock of the service, which runs in this process; timers are not affected. */
    const setClock = (seconds: number): void => {
      vi.setSystemTime(seconds * 1000);
    };
    const start = 1_900_000_000;
    const credentials = () => ({ grant_type: 'client_credentials', ...client });

    test('1: all calls to the report operation require an access token', async () => {
      for (const path of ['/v1/subscription', '/v1/subscription?size=1', `/v1/subscription/${ordinary.id}`]) {
        const response = await fetch(`${service.baseUrl}${path}`);
        expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
        await expectProblem(response, 'UNAUTHORISED');
        await expectProblem(await service.get(path, 'not-a-token'), 'UNAUTHORISED');
        expect((await service.get(path, token)).status).toBe(200);
      }
    });

    test('2: the token endpoint is the one that OpenID Connect discovery names', async () => {
      const metadata = (await (await fetch(`${service.url}/.well-known/openid-configuration`)).json()) as {
        token_endpoint: string;
        grant_types_supported: string[];
      };
      expect(metadata.grant_types_supported).toEqual(['client_credentials', 'refresh_token']);
      const response = await fetch(metadata.token_endpoint, {
        method: 'POST',
        body: new URLSearchParams(credentials()),
      });
      const { access_token: accessToken } = (await response.json()) as TokenResponse;
      expect(await listed('', accessToken)).toEqual(records);
    });

    test('3: a token request is a POST with the form parameters of the table', async () => {
      const body = `grant_type=client_credentials&client_id=${client.client_id}&client_secret=${client.client_secret}`;
      const types = ['application/x-www-form-urlencoded', 'application/x-www-form-urlencoded;charset=UTF-8'];
      for (const type of types) {
        const response = await service.postToken(body, { 'content-type': type });
        expect(response.status).toBe(200);
        expect(await response.json()).toHaveProperty('access_token');
      }
    });

    test.each([
      ['grant_type', 'invalid_request'],
      ['client_id', 'invalid_client'],
      ['client_secret', 'invalid_client'],
    ] as const)('3: a token request without %s is rejected', async (name, error) => {
      const { [name]: _left, ...rest } = credentials();
      await expectTokenError(await service.postToken(rest), error);
      await expectTokenError(await service.postToken({ ...rest, [name]: '' }), error);
    });

    test('4: the response is JSON with access_token, and the first call also returns a refresh token', async () => {
      const response = await service.postToken(credentials());
      expect(response.headers.get('content-type')).toMatch(/^application\/json(;|$)/);
      const issued = (await response.json()) as TokenResponse;
      expect(await listed('size=1', issued.access_token)).toEqual([ordinary]);
      expect((await refresh(refreshTokenOf(issued))).status).toBe(200);
    });

    test.each([
      ['grant_type', 'invalid_request'],
      ['refresh_token', 'invalid_request'],
      ['client_id', 'invalid_client'],
      ['client_secret', 'invalid_client'],
    ] as const)('5: a refresh needs %s', async (name, error) => {
      const refreshToken = refreshTokenOf(await issue(credentials()));
      const { [name]: _left, ...rest } = { ...client, grant_type: 'refresh_token', refresh_token: refreshToken };
      await expectTokenError(await service.postToken(rest), error);
      expect((await refresh(refreshToken)).status).toBe(200);
    });

    test('6: each refresh returns a new access token and a new refresh token', async () => {
      let latest = await issue(credentials());
      const seen = new Set([latest.access_token, refreshTokenOf(latest)]);
      for (let round = 1; round <= 3; round += 1) {
        latest = (await (await refresh(refreshTokenOf(latest))).json()) as TokenResponse;
        expect(await listed('size=1', latest.access_token)).toEqual([ordinary]);
        seen.add(latest.access_token).add(refreshTokenOf(latest));
        expect(seen.size).toBe(2 + round * 2);
      }
    });

    test('7: an access token is valid for 5 minutes', async () => {
      setClock(start);
      const { access_token: accessToken } = await issue(credentials());
      setClock(start + 299);
      expect(await listed('size=1', accessToken)).toEqual([ordinary]);
      setClock(start + 306); // verification allows for a clock difference of 5 seconds
      const response = await service.get('/v1/subscription', accessToken);
      expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"');
      await expectProblem(response, 'UNAUTHORISED');
    });

    test('7: a refresh token is valid for 30 minutes', async () => {
      setClock(start);
      const [one, another] = [await issue(credentials()), await issue(credentials())];
      setClock(start + 1_799);
      expect((await refresh(refreshTokenOf(one))).status).toBe(200);
      setClock(start + 1_800);
      await expectTokenError(await refresh(refreshTokenOf(another)), 'invalid_grant');
    });

    test('8: a client that refreshes before each expiry works for hours', async () => {
      setClock(start);
      let latest = await issue(credentials());
      for (let seconds = 0; seconds <= 3 * 3_600; seconds += 290) {
        setClock(start + seconds);
        expect(await idsOf('size=1', latest.access_token)).toEqual([ordinary.id]);
        latest = (await (await refresh(refreshTokenOf(latest))).json()) as TokenResponse;
      }
    });

    test('8: a client that refreshes after its access token has expired works for hours', async () => {
      setClock(start);
      let latest = await issue(credentials());
      for (let seconds = 1_700; seconds <= 3 * 3_600; seconds += 1_700) {
        setClock(start + seconds);
        await expectProblem(await service.get('/v1/subscription', latest.access_token), 'UNAUTHORISED');
        latest = (await (await refresh(refreshTokenOf(latest))).json()) as TokenResponse;
        expect(await idsOf('size=1', latest.access_token)).toEqual([ordinary.id]);
      }
    });
  });

  describe('Limits', () => {
    test('access tokens live for 5 minutes', async () => {
      const issued = await issue({ grant_type: 'client_credentials', ...client });
      const { exp = 0, iat = 0 } = decodeJwt(issued.access_token);
      expect([issued.expires_in, exp - iat]).toEqual([300, 300]);
    });

    test('refresh tokens live for 30 minutes from each refresh', async () => {
      const issued = await issue({ grant_type: 'client_credentials', ...client });
      // a second may have begun since the start of the lifetime
      const lifetime = expect.toSatisfy((seconds: number) => seconds > 1_790 && seconds <= 1_800);
      expect(issued).toMatchObject({ expires_in: 300, refresh_expires_in: lifetime });
      expect(await (await refresh(refreshTokenOf(issued))).json()).toMatchObject({
        expires_in: 300,
        refresh_expires_in: lifetime,
      });
    });
  });

  describe('Versioning', () => {
    test('the version is in the path as the segment /v1, and there is no other', async () => {
      expect((await service.get('/v1/subscription', token)).status).toBe(200);
      for (const path of ['/subscription', '/v0/subscription', '/v1.0/subscription', '/v2/subscription']) {
        await expectProblem(await service.get(path, token), 'NOT_FOUND');
      }
    });

    test('the contract says version v1.0, and all its report operations are below /v1', async () => {
      const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
        info: { description: string };
        paths: Record<string, Record<string, { tags: string[] }>>;
      };
      expect(document.info.description).toContain('v1.0');
      const paths = Object.entries(document.paths).filter(([, { get }]) => get?.tags.includes('report'));
      expect(paths.length).toBeGreaterThan(0);
      for (const [path] of paths) expect(path).toMatch(/^\/connect-api\/v1\//);
    });
  });
});
