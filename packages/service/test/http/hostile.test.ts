import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { expectProblem, expectTokenError } from '../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import type { ErrorCode, TokenErrorCode } from '../../../contract/error-code.ts';
import type { filterParameters } from '../../../contract/query.ts';
import { decodeCursor, encodeCursor } from '../../report/cursor.ts';

const drawn = drawOne(engines, import.meta.url);

const report = '/connect-api/v1/subscription';
const date = '2024-05-01T00:00:00Z';
const form = 'application/x-www-form-urlencoded';
const formHeader = `Content-Type: ${form}`;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const basic = (credentials: string): string => `Basic ${Buffer.from(credentials).toString('base64')}`;

/** Values that are not decimal integers, or are too small or too large, percent-encoded. */
const notWholeNumbers = `
  0 -1 -0 1.5 5.0 1e2 1E2 0x10 0b11 0o7 Infinity -Infinity NaN 1e400 05 00 %2B5 +5 %205 5%20 1_000 1,000 1%C2%A0000 null
  true %EF%BC%95 %D9%A3 5%00 5%E2%80%8B %27%20or%201=1-- 99999999999999999999 9007199254740993 9223372036854775808
`;

/** Values that are not date-times, percent-encoded. */
const notDates = `
  2024-02-30T00:00:00Z 2023-02-29T00:00:00Z 2024-04-31T00:00:00Z 2024-13-01T00:00:00Z 2024-00-01T00:00:00Z
  2024-05-00T00:00:00Z 2024-05-01T24:00:00Z 2024-05-01T12:60:00Z 2024-05-01T12:00:60Z 2024-05-01T12:00:61Z
  0000-01-01T00:00:00Z 10000-01-01T00:00:00Z %2B010000-01-01T00:00:00Z -000001-01-01T00:00:00Z
  0001-01-01T00:00:00%2B01:00 9999-12-31T23:59:59-01:00 2024-05-01 2024-05 2024 2024-05-01T00:00:00
  2024-5-1T0:0:0Z 2024-W18-3T00:00:00Z 2024-122T00:00:00Z 20240501T000000Z 1714521600 1714521600000 -1
  2024-05-01%2000:00:00 2024-05-01++00:00:00Z 2024-05-01_00:00:00Z 2024-05-01T00:00:00%2B2: 2024-05-01T00:00:00.Z
  2024-05-01T00:00:00.0123456789Z 2024-05-01T00:00:00,5Z 2024-05-01T00:00:00%2B25:00 2024-05-01T00:00:00%2B00:60
  2024-05-01T00:00:00%2B2 2024-05-01T00:00:00%2B020 2024-05-01T00:00:00ZZ
  2024-05-01T00:00:00%2B02:00%5BEurope/Berlin%5D %202024-05-01T00:00:00Z 2024-05-01T00:00:00Z%20 2024-05-01T00:00:00Z%00
  2024-05-01T00:00:00Z%0A %EF%BC%92%EF%BC%90%EF%BC%92%EF%BC%94-05-01T00:00:00Z Wed,%2001%20May%202024%2000:00:00%20GMT
  now yesterday null %00 %F0%9F%98%80
`;

/**
 * Invalid values of each parameter of the report, percent-encoded; the empty one is invalid for
 * all.
 */
const invalidValues: Readonly<Record<string, string>> = {
  size: `${notWholeNumbers} 1001`,
  page: `${notWholeNumbers} 1000000001`,
  before: notDates,
  after: notDates,
  id: `a%00 a%20b a=b a=== a%2Fb a,b %C3%A9 a%0A ${'a'.repeat(256)} ${'a'.repeat(7_000)}`,
  iccid: `12345678901234 12345678901234567890123 89445OO102198304826 8944500102198304826F %F0%9F%98%80 %00
    8944500102198304%00 %208944500102198304826 8944500102198304826%0A 8944-5001-0219-8304 +8944500102198304826 ${'8'.repeat(7_000)}
    ${'%EF%BC%98'.repeat(19)} 8944500102198304826,8944500102198304827 %27%20or%201=1--`,
  status: `ACTIVE, ,ACTIVE , ACTIVE,,DEPLETED %00 ACTIVE%00 a%0Ab %C2%85 %E2%80%A8 ${'A'.repeat(65)} ${Array(17).fill('ACTIVE').join()}`,
  email: `%20 ada%20lovelace@example.com ada+lovelace@example.com ada@example.com%0D%0ABcc:%20eve@example.com ada%00@example.com
    ada@exa%09mple.com ${'a'.repeat(288)}@example.com ada%E2%80%A8@example.com`,
  'product-id': `%00 a%00b %0A a%0D%0Ab a%7Fb %1B%5B2J ${'p'.repeat(129)}`,
  'date-field': 'created%20 createdDate Created CREATED updated __proto__ constructor toString created,activation',
  'device-id': `%00 a%00b %0A a%0D%0Ab a%7Fb ${'d'.repeat(129)}`,
  'plan-id': `%00 a%00b %0A a%0D%0Ab a%7Fb ${'p'.repeat(129)}`,
  'auto-renew': 'TRUE True yes no 1 0 on null true%20 %20true true,false true%00 %EF%BD%94rue __proto__',
  'created-from': notDates,
  'created-to': notDates,
  'expires-within': `7 d 7%20d 7D 7days 7m 7y -7d %2B7d +7d 1.5d 1e2d 0x7d 0d 0h 00d P PT P7 P0D PT0S P7DT p7d P1M P1Y P1W2D P-7D
    P1.5D P1,5D PT1H1H 3661d P3661D 99999999999999999999d PT999999999S Infinityd NaN 7d%20 %207d 7d%00 7d%0A %D9%A7d
    %EF%BC%97d 7d,8d R5/P7D P7D/2024-05-01T00:00:00Z now ${'P'.repeat(33)} ${'9'.repeat(7_000)}d`,
  zone: `europe/berln Berlin Europe/ /Europe Europe/Nowhere Europe/Berlin/x Europe//Berlin UTC%2B1 %2B02:00 Z z 2
    Europe/Berlin%20 %20Europe/Berlin Europe/Berlin%00 Europe%5CBerlin ../../etc/passwd __proto__ constructor ${'A/'.repeat(4_000)}`,
  sort: `created id - --createdDate +createdDate %2BcreatedDate createddate CREATEDDATE createdDate,id createdDate%20desc
    __proto__ constructor`,
  format:
    'JSON Csv xml html jsonl text/csv application/json csv%20 %20csv csv,json csv%00 __proto__ constructor %EF%BD%83sv',
  all: 'TRUE True yes no 1 0 on null true%20 %20true true,false true%00 __proto__',
  dates: 'UTC Local LOCAL utc, local,utc utc%20 %20local zone Europe/Berlin true %00 local%00 __proto__ constructor',
  fields: `Status ID product_id product. .name product.name.x email * id;status id%7Cstatus %00 id%00 id%0A %20id id%20 +id
    %EF%BD%89d iccid%27-- __proto__ constructor product.__proto__ toString null ${'f'.repeat(7_000)}`,
  cursor: `garbage eyJvIjoiMSJ9 W10 WzEsMSwxLCJhIiwyXQ bnVsbA %00 %F0%9F%98%80 a.b ../../etc/passwd ${'A'.repeat(513)} ${'A'.repeat(7_000)}`,
} satisfies Record<string, string> & Record<keyof typeof filterParameters, string>;

/** Values of `by` that name no dimension, percent-encoded. */
const invalidDimensions = `
  x Status STATUS status, ,status , status,,month status,%20month status;month status%20 %20status %00 status%00 status,status day,month,day
  product_id productId plan auto_renew week hour year days null true __proto__ constructor toString status%27%29-- ${'status,'.repeat(900)}
  created date %EF%BD%93tatus
`;
const dateParameters = ['before', 'after', 'created-from', 'created-to'];
const invalidParameters = Object.entries(invalidValues).flatMap(([name, values]) =>
  ['', ...values.trim().split(/\s+/)].map((value) => ({ name, value, shown: value.slice(0, 60) })),
);

/**
 * Asserts that a value of a parameter was rejected with its rule, and that an email is not echoed.
 */
async function expectRule(response: Response, name: string, value: string): Promise<void> {
  const isDate = dateParameters.includes(name);
  const code = isDate ? 'INVALID_HTTP_MESSAGE' : 'INVALID_REQUEST_PARAMS';
  const problem = await expectProblem(response, code);
  const decoded = decodeURIComponent(value.replaceAll('+', ' '));
  const shown = decoded.length > 64 ? `${decoded.slice(0, 64)}…` : decoded;
  expect(problem.errors).toEqual([
    {
      parameter: name,
      value: name === 'email' ? null : shown,
      rule: expect.stringMatching(/, such as |^one of |^true or false$/),
    },
  ]);
  expect(problem.messages[0]).toMatch(new RegExp(`^Cannot use parameter '${name}': it must be `));
  if (isDate) expect(problem.errors[0]?.rule).toContain(date);
  if (name === 'email')
    expect(JSON.stringify({ ...problem, correlation_id: 'random' })).not.toMatch(/lovelace|eve@|aaa/);
}

/** A valid value of each parameter. */
const validValues: Readonly<Record<string, string>> = {
  id: 'c3Vic2NyaXB0aW9uLTAwMDE=',
  iccid: '8944500102198304826',
  email: 'ada%40example.com',
  'product-id': 'product-1',
  status: 'ACTIVE',
  before: date,
  after: date,
  'date-field': 'created',
  'device-id': 'device-1',
  'plan-id': 'plan-1',
  'auto-renew': 'true',
  'created-from': date,
  'created-to': date,
  'expires-within': '7d',
  zone: 'Europe/Berlin',
  sort: 'createdDate',
  size: '5',
  page: '1',
  format: 'json',
  fields: 'iccid,product',
  dates: 'utc',
  all: 'false',
};

/** Parses the bytes of exactly one response; fails otherwise. */
function readResponse(bytes: Buffer): Response {
  const text = bytes.toString('latin1');
  const [, statusText, fields] = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n(.*?)\r\n\r\n/s.exec(text) ?? [];
  if (statusText === undefined || fields === undefined) throw new Error(`no answer but '${text}'`);
  const headers = new Headers();
  for (const field of fields.split('\r\n')) headers.append(field.split(':', 1)[0] ?? '', field.replace(/^[^:]*:/, ''));
  const body = bytes.subarray(text.indexOf('\r\n\r\n') + 4);
  const status = Number(statusText);
  if (body.length > 0) expect(String(body.length), text).toBe(headers.get('content-length'));
  return new Response(status === 204 ? null : body.toString(), { status, headers });
}

/**
 * Sends bytes over a new connection and reads until the service closes it; fails if it never does.
 */
function exchange(url: string, bytes: string | Buffer): Promise<Response> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const chunks: Uint8Array[] = [];
    let failure: Error | undefined;
    socket.setTimeout(60_000, () => socket.destroy(new Error('the service left the connection open')));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', (error) => {
      failure = error;
    });
    socket.on('close', () => {
      try {
        // a reset after a response is fine
        if (failure !== undefined && chunks.length === 0) throw failure;
        resolve(readResponse(Buffer.concat(chunks)));
      } catch (error) {
        reject(error);
      }
    });
    socket.write(bytes);
  });
}

const headersWithout = (response: Response, ...names: string[]) =>
  Object.fromEntries([...response.headers].filter(([name]) => !names.includes(name)));

describe.each(drawn)('hostile requests on $engine', ({ openTestStore }) => {
  let service: TestService;
  let client: TestClient;
  let token: string;
  let refreshToken: string;
  let cursor: string;
  /** Secrets and personal data that were sent and must not be logged. */
  const sent = new Set<string>();

  /**
   * Sends a request with this exact start line and headers; adds `Host` and a valid token by
   * default.
   */
  const send = (
    start: string,
    headers: readonly string[] = [],
    { host = 'Host: localhost', authorization = `Authorization: Bearer ${token}`, body = '' } = {},
  ): Promise<Response> => {
    const [, query] = start.split('?');
    if (query !== undefined) sent.add(query.replace(/ HTTP\/.*$/, ''));
    const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}`;
    const fields = [host, 'Connection: close', authorization, length, ...headers].filter((field) => field !== '');
    return exchange(service.url, `${[start, ...fields].join('\r\n')}\r\n\r\n${body}`);
  };
  const get = (query: string, headers?: readonly string[]) => send(`GET ${report}?${query} HTTP/1.1`, headers);
  const postToken = (body: string, headers: readonly string[] = [formHeader], target = '/oauth2/token') => {
    if (body !== '') sent.add(body);
    return send(`POST ${target} HTTP/1.1`, headers, { authorization: '', body });
  };
  const credentials = () => new URLSearchParams({ ...client }).toString();
  const readable = async (response: Response): Promise<void> => {
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveLength(5);
  };

  beforeAll(async () => {
    service = await startService(await openTestStore(), {}, { tokenFailuresPerMinute: 1_000_000 });
    const acme = await service.createTenant('acme');
    const globex = await service.createTenant('globex');
    client = await service.createClient(acme);
    const rows = ['a', 'b', 'c', 'd', 'e'].map((id, n) => subscriptionRow({ id, createdDate: 1_700_000_000 + n }));
    await service.store.loadSubscriptions(acme, rows);
    await service.store.loadSubscriptions(globex, [subscriptionRow({ id: 'of-globex' })]);
    const answer = await service.postToken({ grant_type: 'client_credentials', ...client });
    ({ access_token: token, refresh_token: refreshToken } = (await answer.json()) as Record<string, string> & {
      access_token: string;
      refresh_token: string;
    });
    const first = await service.get('/v1/subscription?size=2', token);
    cursor = new URL(first.headers.get('x-next-page') ?? '').searchParams.get('cursor') ?? '';
    for (const secret of [token, refreshToken, client.client_secret]) sent.add(secret);
  });
  afterAll(() => service.close());

  describe('parameters of the report', () => {
    test.each(invalidParameters)('$name=$shown is rejected with its rule', async ({ name, value }) => {
      await expectRule(await get(`${name}=${value}`), name, value);
    });

    test.each(Object.keys(invalidValues))('%s without a value and without = is rejected', async (name) => {
      const response = await get(name);
      const problem = (await response.clone().json()) as { type: ErrorCode };
      expect(['INVALID_HTTP_MESSAGE', 'INVALID_REQUEST_PARAMS']).toContain(problem.type);
      expect((await expectProblem(response, problem.type)).errors).toMatchObject([
        { parameter: name, value: name === 'email' ? null : '' },
      ]);
    });

    test.each([
      ['before earlier than after', `before=2024-05-01T00:00:00Z&after=2024-05-02T00:00:00Z`],
      ['before equal to after', `before=${date}&after=${date}`],
      ['before equal to after in another zone', `before=2024-05-01T01:00:00%2B01:00&after=${date}`],
      ['before a fraction earlier than after', 'before=2024-05-01T00:00:00.001Z&after=2024-05-01T00:00:00.002Z'],
      ['before equal to created-from', `before=${date}&created-from=${date}`],
      ['created-to equal to created-from', `created-to=${date}&created-from=${date}`, 'created-to'],
      ['created-to equal to after', `created-to=${date}&after=${date}`, 'created-to'],
      [
        'expires-within beside another bound',
        `expires-within=7d&date-field=expiration&after=${date}`,
        'expires-within',
      ],
    ])('%s is refused', async (_title, query, parameter = 'before') => {
      const { errors } = await expectProblem(await get(query), 'INVALID_REQUEST_PARAMS');
      expect(errors).toMatchObject([{ parameter }]);
    });

    test.each([
      ['foo', undefined],
      ['productid', 'product-id'],
      ['product_id', 'product-id'],
      ['SIZE', 'size'],
      ['size[]', 'size'],
      ['befor', 'before'],
      ['e-mail', 'email'],
      ['device', 'device-id'],
      ['__proto__', undefined],
      ['constructor[prototype][size]', undefined],
      ['access_token', undefined],
      ['size ', 'size'],
      ['\u0000', undefined],
      ['😀', undefined],
    ])('a parameter named %j is refused, with what was meant when that is near', async (name, meant) => {
      const problem = await expectProblem(await get(`${encodeURIComponent(name)}=5`), 'INVALID_REQUEST_PARAMS');
      expect(problem.errors).toMatchObject([{ parameter: name, value: null }]);
      const [sentence] = problem.messages;
      if (name === 'access_token') expect(sentence).toContain("send the header 'Authorization: Bearer <ACCESS_TOKEN>'");
      else if (meant !== undefined) expect(sentence).toContain(`a known name; did you mean '${meant}'?`);
      else expect(sentence).toMatch(/one of id, iccid, email, product-id, status, before, after.*as-of$/);
    });

    test.each(Object.entries(validValues))(
      '%s given twice is rejected, even with equal values',
      async (name, value) => {
        const { errors } = await expectProblem(
          await get(`${name}=${value}&${name}=${value}`),
          'INVALID_REQUEST_PARAMS',
        );
        expect(errors).toEqual([{ parameter: name, value: null, rule: 'given only once' }]);
      },
    );

    test('a cursor given twice is rejected', async () => {
      const query = `size=2&cursor=${cursor}&cursor=${cursor}`;
      const { errors } = await expectProblem(await get(query), 'INVALID_REQUEST_PARAMS');
      expect(errors).toEqual([{ parameter: 'cursor', value: null, rule: 'given only once' }]);
    });

    test('size in percent-encoding counts as a second size', async () => {
      const { errors } = await expectProblem(await get('size=1&%73ize=1000'), 'INVALID_REQUEST_PARAMS');
      expect(errors).toMatchObject([{ parameter: 'size' }]);
    });

    test.each([
      ['size=%ZZ', 'size'],
      ['iccid=%E0%A4%A', 'iccid'],
      ['product-id=%C0%80', 'product-id'],
      ['product-id=%ED%A0%80', 'product-id'],
      ['%ZZ=1', '%ZZ'],
      ['si%zze=1', 'si%zze'],
      ['%', '%'],
    ])('the encoding of %s is refused', async (query, parameter) => {
      const { errors } = await expectProblem(await get(query), 'INVALID_HTTP_MESSAGE');
      expect(errors).toMatchObject([{ parameter }]);
    });

    test('an email is never echoed, however it was sent', async () => {
      const wrong = ['email=grace%40example.com%ZZ', 'email=grace%40example.com&email=grace%40example.com&size=0'];
      for (const query of [...wrong, 'EMAIL=grace%40example.com', 'email=grace%40example.com%20x']) {
        const response = await get(query);
        expect(response.status).toBe(400);
        expect(await response.text()).not.toContain('grace');
      }
      const one = await send(`GET ${report}/a?email=grace%40example.com HTTP/1.1`);
      expect(await one.text()).not.toContain('grace');
    });

    test('all faults of a request are in one response', async () => {
      const query =
        'size=0&page=x&id=a.b&before=yesterday&after=2024-02-30T00:00:00Z&iccid=1&status=,&email=&product-id=%00&sort=x&date-field=x&cursor=x&device-id=&plan-id=&auto-renew=1&created-from=x&created-to=x&expires-within=x&zone=x&format=x&fields=x&dates=x&all=x&foo=1&SIZE=1&%ZZ=1';
      const problem = await expectProblem(await get(query), 'INVALID_HTTP_MESSAGE');
      const parameters = Object.keys(invalidValues);
      expect(problem.errors.map(({ parameter }) => parameter).sort()).toEqual(
        [...parameters, 'foo', 'SIZE', '%ZZ'].sort(),
      );
      expect(problem.messages).toHaveLength(parameters.length + 3);
      const dates = new RegExp(`&(${dateParameters.join('|')})=[^&]*`, 'g');
      const readable = query.replace(dates, '').replace('&%ZZ=1', '');
      const { errors } = await expectProblem(await get(readable), 'INVALID_REQUEST_PARAMS');
      expect(errors).toHaveLength(parameters.length - dateParameters.length + 2);
    });

    test('a thousand unknown parameters get a response of at most 64 KiB that says how many there are', async () => {
      const query = Array.from({ length: 1_000 }, (_, n) => `x${n}=1`).join('&');
      const response = await get(query);
      expect(Number(response.headers.get('content-length'))).toBeLessThan(65_536);
      const { messages, errors } = await expectProblem(response, 'INVALID_REQUEST_PARAMS');
      expect([errors.length, messages.length]).toEqual([32, 33]);
      expect(messages[32]).toContain('current value is 1000');
    });

    const postFields = (body: string) =>
      send(`POST ${report}/search HTTP/1.1`, ['Content-Type: application/json'], { body });
    const manyFields: readonly (readonly [string, string, number])[] = [
      ['a thousand unknown names', Array.from({ length: 1_000 }, (_, n) => `f${n}`).join(), 1_000],
      ['a thousand known names', Array(1_000).fill('iccid').join(), 1],
      ['all of a product twice', 'product,product.name,product.id', 2],
      ['a misspelled, an empty and a repeated one', 'expiration_date,,id,id', 3],
      ['commas', ','.repeat(8_000), 1],
    ];
    test.each(manyFields)(
      'fields with %s are rejected on every operation, with all faults',
      async (_what, text, count) => {
        const paths = ['?', '/a?', '/changes?', '?all=true&format=csv&'];
        const responses = [
          ...paths.map((path) => send(`GET ${report}${path}fields=${text} HTTP/1.1`)),
          postFields(JSON.stringify({ fields: text })),
        ];
        for (const response of responses) {
          const { messages, errors } = await expectProblem(await response, 'INVALID_REQUEST_PARAMS');
          expect([errors.length, messages.length]).toEqual([Math.min(count, 32), Math.min(count, 33)]);
          for (const { parameter, rule } of errors)
            expect([parameter, rule]).toEqual([
              'fields',
              expect.stringContaining('such as iccid,status,expirationDate'),
            ]);
          if (text.startsWith('product')) expect(errors[0]?.rule).toContain("'product' contains 'product.");
          if (text.startsWith('expiration')) expect(errors[0]?.rule).toContain("did you mean 'expirationDate'?");
        }
      },
    );

    test('fields of 100 kB, and fields given twice, are rejected', async () => {
      const large = JSON.stringify({ fields: ','.repeat(100_000) });
      const { errors: ofLarge } = await expectProblem(await postFields(large), 'INVALID_REQUEST_PARAMS');
      expect(ofLarge).toMatchObject([{ parameter: 'fields', value: '' }]);
      const many = JSON.stringify({ fields: Array.from({ length: 30_000 }, (_, n) => `f${n}`) });
      const { errors: ofMany } = await expectProblem(await postFields(many), 'INVALID_REQUEST_PARAMS');
      expect(ofMany).toHaveLength(32);
      for (const response of [get('fields=id&fields=iccid'), postFields('{"fields":"id","fields":["iccid"]}')]) {
        const { errors } = await expectProblem(await response, 'INVALID_REQUEST_PARAMS');
        expect(errors).toEqual([{ parameter: 'fields', value: null, rule: 'given only once' }]);
      }
    });

    test('the operation for one record has no parameters', async () => {
      const response = await send(`GET ${report}/a?size=5&foo=1 HTTP/1.1`);
      const { errors } = await expectProblem(response, 'INVALID_REQUEST_PARAMS');
      expect(errors.map(({ parameter }) => parameter)).toEqual(['size', 'foo']);
    });
  });

  describe('parameters of the summary', () => {
    const count = (query: string) => send(`GET ${report}/summary?${query} HTTP/1.1`);
    const strangers = ['size', 'page', 'sort', 'cursor', 'format', 'fields', 'dates', 'all'];
    const wrong = invalidParameters.filter(({ name }) => !strangers.includes(name));

    test.each(wrong)('$name=$shown is rejected with its rule', async ({ name, value }) => {
      await expectRule(await count(`${name}=${value}`), name, value);
    });

    test.each(invalidDimensions.trim().split(/\s+/))('by=%s is rejected with its rule', async (value) => {
      await expectRule(await count(`by=${value}`), 'by', value);
    });
    test('by without a value is rejected', () =>
      Promise.all(['by=', 'by'].map(async (query) => expectRule(await count(query), 'by', ''))));

    test.each(strangers)('%s is rejected, as a summary has no such parameter', async (name) => {
      const { errors, messages } = await expectProblem(await count(`${name}=1&${name}=2`), 'INVALID_REQUEST_PARAMS');
      expect(errors).toMatchObject([{ parameter: name, value: null }]);
      expect(messages[0]).toMatch(
        /it must be absent: a summary is one JSON object .* without pages, order or other formats$/,
      );
    });

    test.each([
      ['bye', 'by'],
      ['group-by', undefined],
      ['product_id', 'product-id'],
      ['__proto__', undefined],
      ['\u0000', undefined],
    ])('a parameter named %j is refused, with what was meant when that is near', async (name, meant) => {
      const { errors, messages } = await expectProblem(
        await count(`${encodeURIComponent(name)}=5`),
        'INVALID_REQUEST_PARAMS',
      );
      expect(errors).toMatchObject([{ parameter: name, value: null }]);
      if (meant === undefined) expect(messages[0]).not.toContain('did you mean');
      else expect(messages[0]).toContain(`did you mean '${meant}'?`);
    });

    test.each([
      'by=day',
      'by=status,day',
      'by=day&created-from=2024-01-01T00:00:00Z',
      'by=day&created-to=2024-01-01T00:00:00Z',
      'by=day&created-from=2024-01-01T00:00:00Z&created-to=2025-01-01T00:00:01Z',
      'by=day&after=2023-12-31T23:59:59Z&before=2025-01-01T00:00:01Z',
      'by=day&after=0001-01-01T00:00:00Z&before=9999-12-31T23:59:59Z',
      'by=day&date-field=expiration&created-from=2024-01-01T00:00:00Z&created-to=2024-02-01T00:00:00Z',
      'by=day&date-field=expiration&expires-within=367d',
      'by=day&expires-within=7d',
    ])('%s is refused: its days have no near bounds', async (query) => {
      const { errors } = await expectProblem(await count(query), 'INVALID_REQUEST_PARAMS');
      expect(errors).toMatchObject([{ parameter: 'by', rule: expect.stringContaining('at most 366 days apart') }]);
    });

    test.each([
      'by=day&created-from=2024-01-01T00:00:00Z&created-to=2025-01-01T00:00:00Z',
      'by=month,status',
      'by=day&after=2023-12-31T23:59:59Z&before=2025-01-01T00:00:00Z',
      'by=day&date-field=expiration&expires-within=366d',
      'by=day&date-field=activation&after=2024-01-01T06:00:00Z&before=2024-06-01T00:00:00%2B02:00',
    ])('%s is taken', async (query) => {
      expect((await count(query)).status).toBe(200);
    });

    test('all faults of a request are in one response', async () => {
      const query = 'size=0&page=x&sort=x&before=yesterday&iccid=1&status=,&email=&by=x&foo=1&by=y&%ZZ=1';
      const { errors } = await expectProblem(await count(query), 'INVALID_HTTP_MESSAGE');
      const parameters = ['size', 'page', 'sort', 'before', 'iccid', 'status', 'email', 'by', 'by', 'foo', '%ZZ'];
      expect(errors.map(({ parameter }) => parameter).sort()).toEqual(parameters.sort());
    });
  });

  describe('cursors', () => {
    test('the cursor of a page returns the following page', async () => {
      expect((await get(`size=2&cursor=${cursor}`)).status).toBe(200);
    });

    test.each([
      ['another size', 'size=3'],
      ['the default size', ''],
      ['a filter more', 'size=2&status=ACTIVE'],
      ['another order', 'size=2&sort=-createdDate'],
    ])('with %s it is refused', async (_title, query) => {
      const { errors } = await expectProblem(await get(`${query}&cursor=${cursor}`), 'INVALID_REQUEST_PARAMS');
      expect(errors).toMatchObject([{ parameter: 'cursor', value: null }]);
    });

    test('a cursor with another page number than its own is rejected', async () => {
      const { errors } = await expectProblem(await get(`size=2&page=7&cursor=${cursor}`), 'INVALID_REQUEST_PARAMS');
      expect(errors).toMatchObject([{ parameter: 'page', value: '7' }]);
    });

    test('a cursor that is truncated, extended or changed in one letter is rejected', async () => {
      const cuts = Array.from({ length: cursor.length - 1 }, (_, end) => cursor.slice(0, end + 1));
      const middle = Math.floor(cursor.length / 2);
      const changed = `${cursor.slice(0, middle)}${cursor[middle] === 'A' ? 'B' : 'A'}${cursor.slice(middle + 1)}`;
      for (const wrong of [...cuts, `${cursor}A`, `${cursor}=`, `=${cursor}`, changed]) {
        const { errors } = await expectProblem(await get(`size=2&cursor=${wrong}`), 'INVALID_REQUEST_PARAMS');
        expect(errors).toMatchObject([{ parameter: 'cursor' }]);
      }
    });

    test('a cursor forged with an impossible id is rejected', async () => {
      const real = decodeCursor(cursor);
      if (real === undefined) throw new TypeError('the cursor of a page cannot be read');
      for (const id of ['\u0000', 'a\u0000', "a' or '1'='1", '\ud800', 'a b', 'ä', 'a'.repeat(400), '']) {
        const forged = encodeCursor({ ...real, key: { ...real.key, id } });
        const { errors } = await expectProblem(await get(`size=2&cursor=${forged}`), 'INVALID_REQUEST_PARAMS');
        expect(errors).toMatchObject([{ parameter: 'cursor' }]);
      }
    });
  });

  describe('extreme valid values', () => {
    test.each([
      'page=1000000000&size=1000',
      'after=9999-12-31T23:59:59.999999999Z',
      'before=0001-01-01T00:00:00Z',
      'before=2016-12-31T23:59:60Z',
      'iccid=000000000000000',
      'status=NO_SUCH_STATUS',
      'email=%27%3B%20drop%20table%20subscription%3B--'.replaceAll('%20', ''),
      'product-id=%27%20or%20%271%27=%271',
      'product-id=%F0%9F%98%80',
      `product-id=${'p'.repeat(128)}`,
      `plan-id=${'%F0%9F%98%80'.repeat(32)}`,
      'created-from=9999-12-31T23:59:59.999999999Z',
      'created-to=0001-01-01T00:00:00Z',
      'expires-within=3660d',
      'expires-within=PT1S',
    ])('%s gives an empty page', async (query) => {
      const response = await get(query);
      expect([response.status, await response.json()]).toEqual([200, []]);
    });
  });

  describe('targets', () => {
    test.each([
      '/index.html',
      '/connect-api/v1/',
      '/v1/subscription',
      `${report}//`,
      `${report}/a/`,
      `${report}/a/b`,
      `${report}/changes/`,
      `${report}/changes/a`,
      `/${report}`,
      '/connect-api//v1/subscription',
      '/connect-api/V1/subscription',
      '/CONNECT-API/v1/subscription',
      '/connect-api/v1/%2e%2e/v1/subscription',
      '/connect-api/v1/../v1/subscription',
      '/connect-api/./v1/subscription',
      '/connect-api%2Fv1%2Fsubscription',
      `${report}%00`,
      `${report}%3Fsize=5`,
      `${report}/%00`,
      `${report}/..%2F..%2Fpackage.json`,
      `${report}/%F0%9F%98%80`,
      '/oauth2/token/',
      '/docs/static/..%2f..%2f..%2fpackage.json',
      '/docs/%2e%2e/%2e%2e/package.json',
      '/console/static/%2e%2e/%2e%2e/package.json',
      '/console/static/..%5c..%5cpackage.json',
      '/.env',
    ])('GET %s is not found', async (target) => {
      await expectProblem(await send(`GET ${target} HTTP/1.1`), 'NOT_FOUND');
    });

    test.each(['', '?size=5'])("a trailing slash of the report's path followed by %j is ignored", async (query) => {
      const response = await send(`GET ${report}/${query} HTTP/1.1`);
      expect(response.headers.get('x-total-count')).toBe((await get('')).headers.get('x-total-count'));
      await readable(response);
      expect((await send(`OPTIONS ${report}/${query} HTTP/1.1`)).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    });

    test.each([131, 1_024, 1_025, 8_000])('a record whose id has %i characters is not found', async (length) => {
      await expectProblem(await send(`GET ${report}/${'a'.repeat(length)} HTTP/1.1`), 'NOT_FOUND');
    });

    test.each([`${report}/%ZZ`, `${report}/%E0%A4%A`, `${report}/%ff`, `${report}%ZZ`, '/%', '/console/static/%ff'])(
      'the invalid encoding of GET %s is rejected',
      async (target) => {
        await expectProblem(await send(`GET ${target} HTTP/1.1`), 'INVALID_HTTP_MESSAGE');
      },
    );

    test.each([
      ['absolute', `http://evil.example${report}`],
      ['absolute and ours', `http://localhost${report}`],
      ['asterisk', '*'],
    ])('the %s form is refused', async (_title, target) => {
      await expectProblem(await send(`GET ${target} HTTP/1.1`), 'INVALID_HTTP_MESSAGE');
    });

    test('a URL of 8,192 characters is accepted and a longer one gets 414', async () => {
      const start = `${report}?foo=`;
      const longest = `${start}${'a'.repeat(8_192 - start.length)}`;
      await expectProblem(await send(`GET ${longest} HTTP/1.1`), 'INVALID_REQUEST_PARAMS');
      await expectProblem(await send(`GET ${longest}a HTTP/1.1`), 'URI_TOO_LONG');
      await expectProblem(await send(`GET /${'a'.repeat(8_192)} HTTP/1.1`), 'URI_TOO_LONG');
    });

    test.each([
      ['one header of 17 kB', [`X-Filler: ${'a'.repeat(17_000)}`]],
      ['thousands of small headers', Array.from({ length: 3_000 }, (_, n) => `X-${n}: ${n}`)],
      ['a token of 17 kB', [`Authorization: Bearer ${'a'.repeat(17_000)}`]],
    ])('%s is too large', async (_title, headers) => {
      const request = send(`GET ${report} HTTP/1.1`, headers, { authorization: '' });
      await expectProblem(await request, 'HEADERS_TOO_LARGE');
    });

    test('a URL of 20 kB is rejected before it is parsed', async () => {
      await expectProblem(await get(`foo=${'a'.repeat(20_000)}`), 'HEADERS_TOO_LARGE');
    });
  });

  describe('methods', () => {
    const allowed = (response: Response) => response.headers.get('allow')?.split(', ').sort();

    test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'QUERY', 'PROPFIND', 'PURGE'])(
      '%s on the report is not allowed, with or without a token',
      async (method) => {
        for (const authorization of [`Authorization: Bearer ${token}`, '']) {
          const response = await send(`${method} ${report} HTTP/1.1`, [], { authorization });
          await expectProblem(response, 'METHOD_NOT_ALLOWED');
          expect(allowed(response)).toEqual(['GET', 'HEAD', 'OPTIONS']);
        }
        const one = await send(`${method} ${report}/a?foo=1 HTTP/1.1`);
        await expectProblem(one, 'METHOD_NOT_ALLOWED');
        expect(allowed(one)).toEqual(['GET', 'HEAD', 'OPTIONS']);
      },
    );

    test.each([
      ['JSON', 'application/json', '{"size":5}'],
      ['a form', form, 'size=5'],
      ['100 kB', 'application/json', `"${'a'.repeat(100_000)}"`],
    ])('POST and DELETE on the report with a body of %s are not allowed', async (_title, type, body) => {
      for (const method of ['POST', 'DELETE']) {
        const response = await send(`${method} ${report} HTTP/1.1`, [`Content-Type: ${type}`], { body });
        await expectProblem(response, 'METHOD_NOT_ALLOWED');
        expect(allowed(response)).toEqual(['GET', 'HEAD', 'OPTIONS']);
      }
    });

    test('OPTIONS returns the allowed methods without a token', async () => {
      const response = await send(`OPTIONS ${report}?foo=%ZZ HTTP/1.1`, [], { authorization: '' });
      expect([response.status, allowed(response), await response.text()]).toEqual([
        204,
        ['GET', 'HEAD', 'OPTIONS'],
        '',
      ]);
    });

    test('HEAD has the headers of GET and no body', async () => {
      for (const [query, status] of [
        ['size=2', 200],
        ['size=0', 400],
      ] as const) {
        const answers = await Promise.all(
          ['GET', 'HEAD'].map((method) => send(`${method} ${report}?${query} HTTP/1.1`, ['X-Correlation-ID: same'])),
        );
        const [full, head] = answers as [Response, Response];
        expect([full.status, head.status]).toEqual([status, status]);
        const changing = ['date', 'server-timing', 'ratelimit'];
        expect(headersWithout(head, ...changing)).toEqual(headersWithout(full, ...changing));
        expect(full.headers.get('content-length')).toBe(String((await full.arrayBuffer()).byteLength));
        expect((await head.arrayBuffer()).byteLength).toBe(0);
      }
    });
  });

  describe('credentials', () => {
    const challengeOf = (response: Response) => response.headers.get('www-authenticate') ?? '';

    test.each([
      ['no header', ''],
      ['an empty header', 'Authorization:'],
      ['HTTP Basic', `Authorization: ${basic('ada:secret-of-ada')}`],
      ['a token without a scheme', 'Authorization: eyJhbGciOiJub25lIn0'],
      ['a scheme that begins alike', 'Authorization: BearerToken abc'],
    ])('%s is 401 without an error in the challenge (RFC 6750 §3)', async (_title, authorization) => {
      const response = await send(`GET ${report} HTTP/1.1`, [], { authorization });
      await expectProblem(response, 'UNAUTHORISED');
      expect(challengeOf(response)).toBe('Bearer realm="subreport"');
    });

    test('48 (RFC 6750 §2.3, RFC 9700 §4.3.2): a token in the URL is not accepted, not echoed and not used as a filter', async () => {
      const start = `GET ${report}?access_token=${token} HTTP/1.1`;
      const alone = await send(start, [], { authorization: '' });
      expect(challengeOf(alone)).toBe('Bearer realm="subreport"');
      await expectProblem(alone, 'UNAUTHORISED');
      const both = await expectProblem(await send(start), 'INVALID_REQUEST_PARAMS');
      expect(JSON.stringify(both)).not.toContain(token.slice(0, 20));
      const one = await send(start.replace(report, `${report}/a`));
      expect(await one.clone().text()).not.toContain(token.slice(0, 20));
      await expectProblem(one, 'INVALID_REQUEST_PARAMS');
    });

    test.each(['Bearer', 'Bearer ', 'bearer', 'Bearer a b', 'Bearer a,b', 'Bearer "a"', 'Bearer a=b', 'Bearer ä'])(
      'Authorization: %s is 400 invalid_request (RFC 6750 §3.1)',
      async (value) => {
        const response = await send(`GET ${report} HTTP/1.1`, [], { authorization: `Authorization: ${value}` });
        await expectProblem(response, 'INVALID_HTTP_MESSAGE');
        expect(challengeOf(response)).toMatch(/^Bearer realm="subreport", error="invalid_request", /);
      },
    );

    test('tokens that we did not issue get 401 invalid_token (RFC 6750 §3.1)', async () => {
      const [head, payload, signature] = token.split('.') as [string, string, string];
      const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as object;
      const wrong = [
        'garbage',
        '...',
        `${'a'.repeat(10_000)}`,
        refreshToken,
        `${head}.${payload}`,
        `${head}.${payload}.`,
        `${head}.${payload}.${signature.slice(1)}`,
        `${encode({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
        `${encode({ ...header, alg: 'none' })}.${payload}.${signature}`,
        `${encode({ ...header, kid: '__proto__' })}.${payload}.${signature}`,
        `${encode({ ...header, kid: null })}.${payload}.${signature}`,
        `${head}.${encode({ client_id: client.client_id, scope: 'subscription:read' })}.${signature}`,
        `${Buffer.from('\u0000').toString('base64url')}.${payload}.${signature}`,
        `${Buffer.from('[').toString('base64url')}.${payload}.${signature}`,
      ];
      for (const each of wrong) {
        if (each.length > 8) sent.add(each);
        const response = await send(`GET ${report} HTTP/1.1`, [], { authorization: `Authorization: Bearer ${each}` });
        await expectProblem(response, 'UNAUTHORISED');
        expect(challengeOf(response)).toMatch(/^Bearer realm="subreport", error="invalid_token", /);
      }
    });

    test("another tenant's record gets the same response as one that does not exist", async () => {
      const [theirs, nobodys] = (await Promise.all(
        ['of-globex', 'of-nobody'].map((id) => send(`GET ${report}/${id} HTTP/1.1`, ['X-Correlation-ID: same'])),
      )) as [Response, Response];
      expect(headersWithout(theirs, 'date', 'ratelimit')).toEqual(headersWithout(nobodys, 'date', 'ratelimit'));
      expect(await theirs.clone().text()).toBe(await nobodys.clone().text());
      await expectProblem(theirs, 'NOT_FOUND');
      await expectProblem(nobodys, 'NOT_FOUND');
    });
  });

  describe('headers', () => {
    test.each([
      'text/html',
      'text/csv;q=0, application/json;q=0',
      'application/json;q=0',
      '*/*;q=0',
      'application/problem+json',
      'application/json;charset=iso-8859-1',
      'text/csv;header=absent',
    ])('Accept: %s fits nothing', async (accept) => {
      await expectProblem(await get('', [`Accept: ${accept}`]), 'UNACCEPTABLE');
    });

    test.each([
      '',
      '*/*',
      'application/*',
      'text/html, application/json;q=0.1',
      'text/html;q=1, */*;q=0.001',
      'application/json;charset=UTF-8',
      'application/json; charset="utf-8"; q=0.5',
    ])('Accept: %s is fine', async (accept) => {
      const response = await get('', [`Accept: ${accept}`]);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      await readable(response);
      expect((await send(`GET ${report}/summary HTTP/1.1`, [`Accept: ${accept}`])).status).toBe(200);
    });

    test('Accept: text/csv with the parameters of our CSV gets CSV', async () => {
      const response = await get('', ['Accept: text/csv;header=present;charset=UTF-8']);
      expect(response.headers.get('content-type')).toMatch(/^text\/csv/);
    });

    test.each([
      ['Content-Type: application/json'],
      ['Cache-Control: no-cache'],
      ['Accept-Encoding: br;q=0, gzip;q=abc, *;q=0'],
      ['Accept-Language: \xff'],
      ['Range: bytes=0-0'],
      ['If-None-Match: "x"'],
      ['If-None-Match: ,,"'],
      ['If-Modified-Since: yesterday'],
      ['If-Match: "x"'],
      ['Cookie: session=1; session=2'],
      ['Origin: https://evil.example'],
      ['X-HTTP-Method-Override: DELETE'],
      ['X-Forwarded-Host: evil.example'],
      ['Forwarded: host=evil.example'],
      ['Upgrade: websocket'],
    ])('%s changes nothing', async (header) => {
      const response = await get('', [header]);
      expect(response.headers.get('link')).not.toContain('evil');
      await readable(response);
    });

    test('an unknown expectation is ignored', async () => {
      await readable(await get('', ['Expect: the-unexpected']));
    });

    test.each([
      ['257 characters', 'a'.repeat(257)],
      ['no character', ''],
      ['non-ASCII characters', 'café'],
      ['a tab', 'a\tb'],
    ])('an X-Correlation-ID of %s is replaced by one of ours', async (_title, given) => {
      const response = await get('', [`X-Correlation-ID: ${given}`]);
      expect(response.headers.get('x-correlation-id')).toMatch(uuid);
      await readable(response);
      const problem = await expectProblem(
        await get('size=0', [`X-Correlation-ID: ${given}`]),
        'INVALID_REQUEST_PARAMS',
      );
      expect(problem.correlation_id).toMatch(uuid);
    });

    test.each(['a'.repeat(256), '","level":60,"x":"', '<script>alert(1)</script>', '%0d%0aSet-Cookie:a=b', '../../x'])(
      'X-Correlation-ID: %s is echoed and stays one value of one log line',
      async (given) => {
        const response = await get('', [`X-Correlation-ID: ${given}`]);
        expect(response.headers.get('x-correlation-id')).toBe(given);
        await readable(response);
        await expect.poll(() => service.log.filter((line) => line.correlation_id === given)).toHaveLength(1);
      },
    );
  });

  describe('malformed HTTP messages', () => {
    const line = `GET ${report} HTTP/1.1`;

    test.each<[string, string, string[]]>([
      ['two Host headers', line, ['Host: evil.example']],
      ['two equal Host headers', line, ['Host: localhost']],
      ['two Authorization headers', line, ['Authorization: Bearer x']],
      ['two Authorization headers, one in capitals', line, ['AUTHORIZATION: Basic eDp5']],
      ['a blank before the colon', line, ['X : b']],
      ['a header without a name', line, [': b']],
      ['NUL in a header', line, ['X-A: a\0b']],
      ['a bare CR in a header', line, ['X-A: a\rb']],
      ['a bare LF between headers', line, ['X-A: a\nX-B: b']],
      ['a folded header', line, ['X-A: a\r\n b']],
      ['Content-Length and Transfer-Encoding', line, ['Content-Length: 5', 'Transfer-Encoding: chunked']],
      ['Transfer-Encoding and Content-Length', line, ['Transfer-Encoding: chunked', 'Content-Length: 5']],
      ['two Content-Lengths', line, ['Content-Length: 0', 'Content-Length: 5']],
      ['a negative Content-Length', line, ['Content-Length: -1']],
      ['a Content-Length with a sign', line, ['Content-Length: +1']],
      ['a Content-Length that is no number', line, ['Content-Length: x']],
      ['a Content-Length beyond all numbers', line, ['Content-Length: 99999999999999999999']],
      ['a Transfer-Encoding that does not exist', line, ['Transfer-Encoding: x']],
      ['a Transfer-Encoding spelt askew', line, ['Transfer-Encoding: chunked, identity']],
      ['two Transfer-Encodings', line, ['Transfer-Encoding: gzip, chunked']],
      // a proxy of HTTP/1.0 may read the body up to another end
      ['a chunked request of HTTP/1.0', `GET ${report} HTTP/1.0`, ['Transfer-Encoding: chunked']],
      ['HTTP/2.0', `GET ${report} HTTP/2.0`, []],
      ['HTTP/0.9', `GET ${report} HTTP/0.9`, []],
      ['another protocol', `GET ${report} ICY/1.1`, []],
      ['no version', `GET ${report}`, []],
      ['a blank in the target', `GET ${report}?size= 5 HTTP/1.1`, []],
      ['a control character in the target', `GET ${report}?size=\x01 HTTP/1.1`, []],
      ['a non-ASCII target', `GET ${report}?iccid=٣ HTTP/1.1`, []],
      ['backslashes in the target', 'GET \\connect-api\\v1\\subscription HTTP/1.1', []],
      ['a target without a slash', `GET ${report.slice(1)} HTTP/1.1`, []],
      ['a method that does not exist', `FETCH ${report} HTTP/1.1`, []],
      ['CONNECT', 'CONNECT localhost:80 HTTP/1.1', []],
      ['a blank before the method', ` GET ${report} HTTP/1.1`, []],
    ])('%s: 400', async (_title, start, headers) => {
      await expectProblem(await send(start, headers), 'INVALID_HTTP_MESSAGE');
    });

    test.each(['reports.example:8080', '127.0.0.1', '[::1]:8080', 'xn--caf-dma.example', ''])(
      "the host '%s' is accepted (RFC 9110 §7.2)",
      async (host) => readable(await send(line, [], { host: `Host: ${host}` })),
    );

    test.each(['', 'Host: a b', 'Host: a/b', 'Host: a@b', 'Host: a:b', 'Host: a, b', 'Host: [::1', 'Host: a:1:2'])(
      "no Host, or one that is none (RFC 9112 §3.2), '%s': 400",
      async (host) => {
        await expectProblem(await send(line, [], { host }), 'INVALID_HTTP_MESSAGE');
      },
    );

    test.each([
      ['bare LF throughout', `GET ${report} HTTP/1.1\nHost: localhost\nConnection: close\n\n`],
      ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['the beginning of TLS', Buffer.from('16030100c8010000c40303', 'hex')],
      ['bytes of every value', Buffer.from(Array.from({ length: 256 }, (_, byte) => 255 - byte))],
      ['Redis', '*1\r\n$8\r\nFLUSHALL\r\n'],
      ['an endless first line', 'A'.repeat(20_000)],
    ])('%s: 400', async (_title, bytes) => {
      const response = await exchange(service.url, bytes);
      await expectProblem(response, 'INVALID_HTTP_MESSAGE');
      expect(response.headers.get('connection')).toBe('close');
    });

    const post = ['POST /oauth2/token HTTP/1.1', 'Host: localhost', 'Connection: close', formHeader].join('\r\n');
    test.each([
      ['Content-Length: 9\r\nContent-Length: 8\r\n\r\n', /length of its body must be given once/],
      ['Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n', /length of its body must be given once/],
      ['Content-Length: +9\r\n\r\n', /length of its body must be given once/],
      ['Transfer-Encoding: chunked\r\n\r\nZZ\r\n', /length of its body must be given once/],
      [`Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}`, /extensions of its chunks/],
      ['X : y\r\n\r\n', /each header must be a name, a colon and a value/],
    ])('a message with %j is a 400 that says what is wrong with it', async (rest, message) => {
      const { messages } = await expectProblem(
        await exchange(service.url, `${post}\r\n${rest}`),
        'INVALID_HTTP_MESSAGE',
      );
      expect(messages).toEqual([expect.stringMatching(message)]);
    });

    test('a message that ends before its body is complete is a 400 that says so', async () => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      socket.end(`${post}\r\nContent-Length: 9\r\n\r\na=b`);
      const text = Buffer.concat(await socket.toArray()).toString();
      expect(text).toMatch(/^HTTP\/1\.1 400 .*"Cannot read the request: it must be complete: /s);
    });

    test.each(['X-Correlation-ID', 'X-Anything'])(
      'a control character in %s is a 400 that names the header and nothing of its value',
      async (name) => {
        const response = await send(line, ['X-Before: fine', `${name}: secret\x01value`]);
        const { messages } = await expectProblem(response, 'INVALID_HTTP_MESSAGE');
        expect(messages).toEqual([`Cannot read the request: the header '${name}' must not contain control characters`]);
      },
    );

    test('a request that cannot be parsed is logged with its address, reason and correlation id (16.3.3)', async () => {
      const response = await send(line, ['X-A: secret\x01value']);
      const correlation_id = response.headers.get('x-correlation-id');
      await expect
        .poll(() => service.log)
        .toContainEqual(
          expect.objectContaining({
            ...{ msg: 'unreadable request', correlation_id, status: 400, address: '127.0.0.1' },
            reason: 'HPE_INVALID_HEADER_TOKEN',
          }),
        );
      expect(service.logText()).not.toContain('secret\\u0001');
    });

    test('a request smuggled after a rejected one gets no response', async () => {
      const hidden = `0\r\n\r\nGET ${report} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
      const headers = ['Content-Length: 5', 'Transfer-Encoding: chunked'];
      const bytes = [`POST /oauth2/token HTTP/1.1`, 'Host: localhost', formHeader, ...headers, '', hidden].join('\r\n');
      // `readResponse` accepts one response only
      await expectProblem(await exchange(service.url, bytes), 'INVALID_HTTP_MESSAGE');
    });
  });

  // token-endpoint.test.ts has what each rule of the standards demands
  describe('token requests', () => {
    const grant = 'grant_type=client_credentials';

    test.each<[string, TokenErrorCode, (good: string) => string]>([
      ['grant_type without =', 'invalid_request', (good) => `grant_type&${good}`],
      ['grant_type with a blank', 'unsupported_grant_type', (good) => `grant_type=client_credentials+&${good}`],
      ['grant_type with NUL', 'unsupported_grant_type', (good) => `${grant}%00&${good}`],
      ['GRANT_TYPE', 'invalid_request', (good) => `GRANT_TYPE=client_credentials&${good}`],
      ['grant_type twice, once encoded', 'invalid_request', (good) => `${grant}&grant%5Ftype=refresh_token&${good}`],
      ['a bad % in a name', 'invalid_request', (good) => `${grant}&${good}&%ZZ=1`],
      ['UTF-8 cut off', 'invalid_request', (good) => `${grant}&${good}&scope=%E0%A4%A`],
      ['a raw line end inside', 'invalid_request', (good) => `${grant}\r\n&${good}`],
      ['a client_id __proto__', 'invalid_client', () => `${grant}&client_id=__proto__&client_secret=y`],
      ['a client_id with NUL behind it', 'invalid_client', (good) => `${grant}&${good.replace('&', '%00&')}`],
      ['a client_id of 60 kB', 'invalid_client', () => `${grant}&client_id=${'a'.repeat(60_000)}&client_secret=y`],
      ['a client_id that is SQL', 'invalid_client', () => `${grant}&client_id=%27+or+1=1--&client_secret=y`],
      ['a client_secret with NUL', 'invalid_client', (good) => `${grant}&${good}%00`],
      ['a scope with NUL', 'invalid_scope', (good) => `${grant}&${good}&scope=%00`],
      ['a scope __proto__', 'invalid_scope', (good) => `${grant}&${good}&scope=__proto__`],
      ['NUL for a refresh_token', 'invalid_grant', (good) => `grant_type=refresh_token&refresh_token=%00&${good}`],
    ])('%s is %s', async (_title, error, bodyOf) => {
      await expectTokenError(await postToken(bodyOf(credentials())), error);
    });

    test.each(['gzip', 'br', 'x'])('a body with Content-Encoding: %s is invalid_request', async (coding) => {
      const response = await postToken(`${grant}&${credentials()}`, [formHeader, `Content-Encoding: ${coding}`]);
      const { error_description } = await expectTokenError(response, 'invalid_request');
      expect(error_description).toMatch(/'content-encoding' must be absent/);
    });

    test('a body with a transfer coding other than chunked is invalid_request', async () => {
      const head = ['POST /oauth2/token HTTP/1.1', 'Host: localhost', 'Connection: close', formHeader];
      const bytes = [...head, 'Transfer-Encoding: gzip, chunked', '', '0', '', ''].join('\r\n');
      const { error_description } = await expectTokenError(await exchange(service.url, bytes), 'invalid_request');
      expect(error_description).toMatch(/'transfer-encoding' must be chunked/);
    });

    test.each([
      'Basic',
      'Basic ',
      'Basic !!!',
      'Basic YWJj',
      'Basic Og==',
      'Basic OmI=',
      `Basic ${'A'.repeat(10_000)}`,
      basic('%ZZ:x'),
      basic('%00:x'),
      basic('__proto__:x'),
      'Basic ä',
    ])('Authorization: %s is invalid_client', async (value) => {
      await expectTokenError(await postToken(grant, [formHeader, `Authorization: ${value}`]), 'invalid_client');
    });

    test('two Authorization or Host headers, or no Host, are invalid_request', async () => {
      const good = `Authorization: ${basic(`${client.client_id}:${client.client_secret}`)}`;
      await expectTokenError(await postToken(grant, [formHeader, good, good]), 'invalid_request');
      await expectTokenError(await postToken(grant, [formHeader, good, 'Host: evil.example']), 'invalid_request');
      const withoutHost = { authorization: good, host: '', body: grant };
      const response = await send('POST /oauth2/token HTTP/1.1', [formHeader], withoutHost);
      await expectTokenError(response, 'invalid_request');
    });

    test('after all hostile token requests the same client gets a token', async () => {
      const response = await postToken(`${grant}&${credentials()}`);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ token_type: 'Bearer' });
    });
  });

  describe('afterwards', () => {
    test('after all hostile requests reports are served', async () => {
      await readable(await get(''));
      expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    });

    test('no log line is of level error', () => {
      expect(service.log.length).toBeGreaterThan(600);
      expect(service.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    });

    test('no log line contains a token, a secret, an email or a query string that was sent', () => {
      const log = service.logText();
      const found = [...sent].filter((text) => (text.includes('=') || text.length > 20) && log.includes(text));
      expect(sent.size).toBeGreaterThan(400);
      expect(found).toEqual([]);
      for (const personal of ['@example.com', '%40example.com', 'lovelace', 'secret-of-ada', 'Bearer ', 'Basic ']) {
        expect(log).not.toContain(personal);
      }
    });
  });
});
