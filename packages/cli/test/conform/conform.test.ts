import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { formatInstant } from '../../../contract/instant.ts';
import type { Subscription } from '../../../contract/subscription.ts';
import { rememberSecret } from '../../../terminal/printable.ts';
import type { Capabilities } from '../../conform/capabilities.ts';
import { type ConformReport, checkServer, checks } from '../../conform/conform.ts';
import { cut, Requester } from '../../conform/requester.ts';
import { ConnectServer, credentials, ordinary, type Variant } from './connect-server.ts';
import { mistakes } from './mistakes.ts';
import { accountRecords } from './records.ts';

const server = new ConnectServer([]);
const check = (requestsMax = 200): Promise<ConformReport> => checkServer(new Requester(server.target, { requestsMax }));
const idsOf = ({ checks: all }: ConformReport, result: string): string[] =>
  all.filter((each) => each.result === result).map(({ id }) => id);

beforeAll(() => server.listen());
afterAll(() => server.close());
beforeEach(() => {
  Object.assign(server, { behavior: {}, variant: ordinary, records: accountRecords(57), requests: 0 });
});

/** The dates of a record, some days later. */
const datesOf = (record: Partial<Subscription>, days: number): Partial<Subscription> =>
  Object.fromEntries(
    (['createdDate', 'activationDate', 'expirationDate'] as const).map((name) => [
      name,
      formatInstant(Date.parse(record[name] ?? '') / 1000 + days * 86_400),
    ]),
  );

describe('conform', () => {
  test('passes every check of a correct server', async () => {
    const report = await check();
    expect([idsOf(report, 'failed'), idsOf(report, 'not applicable')]).toEqual([[], []]);
    expect(report).toMatchObject({ passed: checks.length, requests: server.requests });
  });

  test('has a planted mistake for every check', () => {
    const ids = checks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...new Set(mistakes.map((mistake) => mistake.check))].toSorted()).toEqual(ids.toSorted());
  });

  test.each(mistakes)('fails only $check of a server that $does', async (mistake) => {
    server.behavior = mistake;
    expect(idsOf(await check(), 'failed')).toEqual([mistake.check]);
  });

  test.each([
    [1, 'total-count-per-page', 0],
    [2, 'paging-next-page', 2],
    [2, 'paging-next-page-ends', 1],
    [2, 'total-current-page', 1],
    [2, 'total-count-per-page', 1],
    [150, 'paging-no-repeat', 1],
  ])('in an account of %d records, notices the mistakes of %s: %d', async (records, id, noticed) => {
    server.records = accountRecords(records);
    const found: string[] = [];
    for (const mistake of mistakes.filter((each) => each.check === id)) {
      server.behavior = mistake;
      found.push(...idsOf(await check(), 'failed'));
    }
    expect(found).toEqual(Array(noticed).fill(id));
  });

  const moods: readonly [string, Partial<Variant>, Partial<Capabilities>][] = [
    ['numbers pages from 0', { firstPage: 0 }, { first_page: 0 }],
    ['repeats the last page', { afterLastPage: 'last page' }, { after_last_page: 'last page again' }],
    ['rejects pages past the last', { afterLastPage: 'rejected' }, { after_last_page: 'rejected' }],
    ['sends the newest first', { isNewestFirst: true }, { order: '-createdDate' }],
    ['sends no totals and links', { sendsHeaders: false }, { total_sent: false, next_page_sent: false }],
    ['explains errors in plain text', { hasPlainErrors: true }, {}],
    ['rejects more than 50', { sizeMax: 50 }, { largest_size: 50, larger_size: 'rejected' }],
    ['shortens pages to 50', { sizeMax: 50, rejectsLargerSize: false }, { largest_size: 50, larger_size: 'shortened' }],
    [
      'includes the bounds',
      { isInclusive: true },
      { bounds: { date: 'createdDate', before_is_inclusive: true, after_is_inclusive: true } },
    ],
    [
      'includes the bound of after alone',
      { isInclusive: 'after' },
      { bounds: { date: 'createdDate', before_is_inclusive: false, after_is_inclusive: true } },
    ],
    [
      'compares the expiration with bounds',
      { dateField: 'expirationDate' },
      { bounds: { date: 'expirationDate', before_is_inclusive: false, after_is_inclusive: false } },
    ],
    [
      'does all of this',
      {
        firstPage: 0,
        afterLastPage: 'last page',
        isInclusive: true,
        isNewestFirst: true,
        sendsHeaders: false,
        dateField: 'activationDate',
      },
      {
        first_page: 0,
        after_last_page: 'last page again',
        order: '-createdDate',
        total_sent: false,
        bounds: { date: 'activationDate', before_is_inclusive: true, after_is_inclusive: true },
      },
    ],
  ];

  test.each(moods)('fails no check of a server that %s, and says so', async (_does, variant, capabilities) => {
    server.variant = { ...ordinary, ...variant };
    const report = await check();
    expect(idsOf(report, 'failed')).toEqual([]);
    expect(report.capabilities).toMatchObject(capabilities);
  });

  test.each([
    ['before', -1],
    ['after', 1],
  ] as const)('asks for what %s selects, where most records have the same date', async (name, sign) => {
    const [shared = {}] = accountRecords(1);
    server.records = accountRecords(57).map((record, n) => {
      if (n > 6) return { ...record, ...datesOf(shared, 0) };
      return { ...record, ...datesOf(shared, -sign * (n + 1)) };
    });
    server.behavior = {
      response: (response, { query }) => (query.includes(`${name}=`) ? { ...response, json: [] } : response),
    };
    expect(idsOf(await check(), 'failed')).toContain(`parameter-${name}`);
  });

  test('sends no access token to another server that X-Next-Page names', async () => {
    let requests = 0;
    const other = createServer((_request, response) => {
      requests += 1;
      response.end('[]');
    });
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    server.behavior = {
      response: (response) => {
        const { 'x-next-page': next, ...headers } = response.headers;
        return next === undefined
          ? response
          : { ...response, headers: { ...headers, 'x-next-page': next.replace(/^https?:\/\/[^/]*/, origin) } };
      },
    };
    const found = (await check()).checks.find(({ id }) => id === 'paging-next-page');
    expect([requests, found]).toMatchObject([0, { result: 'failed', seen: `X-Next-Page leads to ${origin}` }]);
    other.close();
  });

  test('takes a full page that comes again for the first page, not for the last of the account', async () => {
    server.records = accountRecords(150);
    server.variant = { ...ordinary, sendsHeaders: false };
    server.behavior = mistakes.find(({ does }) => does === 'ignores page') ?? {};
    const report = await check();
    expect(idsOf(report, 'failed')).toEqual(['paging-page']);
    expect(report.capabilities).toMatchObject({ after_last_page: 'first page again' });
  });

  test.each([0, 1, 2, 3, 5, 20, 100, 1_003])('fails no check of an account with %d records', async (records) => {
    server.records = accountRecords(records);
    expect(idsOf(await check(), 'failed')).toEqual([]);
  });

  test('fails no check of records with words and members that nobody knows, or without members', async () => {
    server.records = accountRecords(57).map((record, n) => ({
      ...record,
      ...(n % 3 === 0 && { status: 'Not started', apn: 'iot' }),
      product: n % 2 === 0 ? { id: record.product.id } : { ...record.product, period_unit: 'CALENDAR-MONTH', zone: 2 },
    }));
    expect(idsOf(await check(), 'failed')).toEqual([]);
  });

  test('fails no check of an account whose newest records come first and arrive meanwhile', async () => {
    server.variant = { ...ordinary, isNewestFirst: true };
    const later = accountRecords(400);
    for (const every of [4, 7, 11, 23]) {
      server.records = accountRecords(57);
      server.requests = 0;
      server.behavior = {
        request: (request) => {
          if (server.requests % every === 0) server.records = later.slice(0, server.records.length + 1);
          return request;
        },
      };
      const report = await check();
      expect([every, idsOf(report, 'failed')]).toEqual([every, []]);
      expect(report.passed).toBeGreaterThan(45);
    }
  });

  test.each([1, 2, 3, 5, 8, 13, 40])(
    'fails no check of an account to which every %d requests add a record at its end',
    async (every) => {
      const later = accountRecords(400);
      server.behavior = {
        request: (request) => {
          if (server.requests % every === 0) server.records = later.slice(0, server.records.length + 1);
          return request;
        },
      };
      const report = await check();
      expect(report.checks.filter(({ result }) => result === 'failed')).toEqual([]);
      expect(report.passed).toBeGreaterThan(45);
    },
  );

  test('fails no check of an account from which records are removed meanwhile', async () => {
    for (const every of [3, 5, 8]) {
      server.records = accountRecords(90);
      server.requests = 0;
      server.behavior = {
        request: (request) => {
          if (server.requests % every === 0) server.records = server.records.slice(0, -1);
          return request;
        },
      };
      expect([every, idsOf(await check(), 'failed')]).toEqual([every, []]);
    }
  });

  test('fails a check that does not depend on the records, also if they change meanwhile', async () => {
    server.variant = { ...ordinary, isNewestFirst: true };
    const later = accountRecords(400);
    const mistake = mistakes.find((each) => each.check === 'error-unknown-path');
    server.behavior = {
      ...mistake,
      request: (request) => {
        if (server.requests % 2 === 0) server.records = later.slice(0, server.records.length + 1);
        return request;
      },
    };
    expect(idsOf(await check(), 'failed')).toContain('error-unknown-path');
  });

  test('sends no more requests than it may, and says which checks did not run', async () => {
    for (const requestsMax of [2, 9, 23, 47]) {
      server.requests = 0;
      const report = await check(requestsMax);
      expect([server.requests, report.requests, report.max_requests]).toEqual([requestsMax, requestsMax, requestsMax]);
      expect([idsOf(report, 'failed'), report.capabilities]).toEqual([[], null]);
      expect(report.checks.at(-1)).toMatchObject({ result: 'not applicable', seen: expect.stringContaining('spent') });
    }
  });

  test('waits as long as a busy server asks, and counts these requests', async () => {
    const { requests } = await check();
    server.requests = 0;
    let turn = 0;
    server.behavior = {
      response: (response) => {
        turn += 1;
        // twice in a row
        return turn % 9 < 2 ? { status: 429, headers: { 'retry-after': '0' }, json: {} } : response;
      },
    };
    const report = await check();
    expect(idsOf(report, 'failed')).toEqual([]);
    expect(report.requests).toBe(server.requests);
    expect(report.requests).toBeGreaterThan(requests);
  });

  test.each(['61', 'Wed, 21 Oct 2015 07:28:00 GMT', 'soon', 'NaN'])(
    'judges a response at once that asks to wait for %s',
    async (retryAfter) => {
      server.behavior = { response: () => ({ status: 429, headers: { 'retry-after': retryAfter }, json: {} }) };
      const requester = new Requester(server.target, { requestsMax: 9 });
      expect((await requester.get('/v1/subscription', undefined)).status).toBe(429);
      expect([requester.requests, server.requests]).toEqual([1, 1]);
    },
  );

  test('says of a body that is too large how large it may be', async () => {
    server.behavior = { response: (response) => ({ ...response, body: ' '.repeat(8 * 1_048_576 + 1) }) };
    await expect(check()).rejects.toThrow(/^Cannot check the server: a response must have at most 8 MiB: /);
  });

  test('reads a body that is as large as it may be', async () => {
    server.behavior = { response: (response) => ({ ...response, body: ' '.repeat(8 * 1_048_576) }) };
    expect(await new Requester(server.target, { requestsMax: 1 }).postToken({})).toMatchObject({ isEmpty: false });
  });

  test('accuses no server of a demand because of one fault', async () => {
    let faults = 0;
    server.behavior = {
      response: (response, { path }) => {
        if (!path.endsWith('/subscription') || faults > 0) return response;
        faults += 1;
        return { ...response, status: 500, json: {} };
      },
    };
    const report = await check();
    expect([faults, idsOf(report, 'failed')]).toEqual([1, []]);
  });

  test('reports what it found, wherever the requests are spent', async () => {
    let turn = 0;
    server.behavior = {
      response: (response, { path }) => {
        turn += 1;
        // another total each time, so that both walks are compared
        return path.endsWith('/subscription')
          ? { ...response, headers: { ...response.headers, 'x-total-count': String(1_000 + turn) } }
          : response;
      },
    };
    const whole = await check();
    expect(idsOf(whole, 'failed')).not.toEqual([]);
    for (let requestsMax = 10; requestsMax < whole.requests; requestsMax += 3)
      expect((await check(requestsMax)).requests).toBe(requestsMax);
  });

  test('masks a secret before it cuts what a server sent', () => {
    rememberSecret(credentials.clientSecret);
    expect(cut(`error ${credentials.clientSecret}`, 20)).toBe('error ***');
  });

  test('sends nothing but GET requests and token requests, and its token to no other machine', async () => {
    const paths = new Set<string>();
    server.behavior = {
      request: (request) => {
        paths.add(`${request.method} ${request.path}`);
        return request;
      },
    };
    await check();
    expect(paths).toEqual(
      new Set(['POST /token', 'GET /connect-api/v1/subscription', 'GET /connect-api/v1/no-such-operation']),
    );
  });

  test('reveals no secret, token or ICCID in what it saw', async () => {
    for (const mistake of mistakes.filter((_, at) => at % 5 === 0)) {
      server.behavior = mistake;
      const seen = JSON.stringify((await check()).checks.map((each) => each.seen));
      expect(seen).not.toMatch(/access-\d|refresh-\d|894450010|q7Z2kVb9/);
    }
  });
});
