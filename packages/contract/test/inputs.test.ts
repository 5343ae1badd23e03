import { existsSync, readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqlite } from '../../../test/support/engines.ts';
import { startService, type TestService } from '../../../test/support/service.ts';
import { freePort } from '../../../tools/free-port.ts';
import { createAuditLog } from '../../service/audit/audit-log.ts';
import { csvColumns } from '../../service/import/csv-layout.ts';
import { createOperator } from '../../service/operator/operators.ts';
import type { ErrorCode } from '../error-code.ts';
import { bodyDepthMax } from '../json-object.ts';
import { consoleOperations } from '../oauth/console-session.ts';

interface Contract {
  readonly paths: Record<string, Record<string, { requestBody?: { content: Record<string, unknown> } }>>;
}

/** An operation with the media types of its body. */
interface Input {
  readonly listener: 'public' | 'management';
  readonly method: string;
  readonly path: string;
  readonly types: readonly string[];
}

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const page = read('docs/security/inputs.md');

const contracts = [
  ['public', 'openapi.json'],
  ['management', 'openapi-operator.json'],
] as const;

/** Every operation of both contracts, and those of the consoles, which are in neither. */
const inputs: readonly Input[] = [
  ...contracts.flatMap(([listener, file]) =>
    Object.entries((JSON.parse(read(file)) as Contract).paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { requestBody }]) => ({
        ...{ listener, method: method.toUpperCase(), types: Object.keys(requestBody?.content ?? {}) },
        path: path.replaceAll(/\{\w+\}/g, 'acme'),
      })),
    ),
  ),
  ...(['public', 'management'] as const).flatMap((listener) =>
    Object.values(consoleOperations).map(({ method, path }) => ({
      ...{ listener, method, path },
      types: method === 'POST' ? ['application/json'] : [],
    })),
  ),
];

/** Longest JSON body of an operation in bytes, if it is not the usual one. */
const jsonBytesMax: Readonly<Record<string, number>> = {
  'public /connect-api/v1/subscription/search': 262_144,
  'public /console/session': 8_192,
  'management /console/session': 4_096,
  'management /operator/v1/tenants/acme/subscriptions/erase': 1_048_576,
};

const bytesMaxOf = ({ listener, path }: Input): number => jsonBytesMax[`${listener} ${path}`] ?? 65_536;

/** A body of a media type, and what must come back: a status, or the text of a rejected row. */
interface Excess {
  readonly body: string;
  readonly status: number;
  readonly says: string;
}

const status = {
  INVALID_HTTP_MESSAGE: 400,
  PAYLOAD_TOO_LARGE: 413,
  URI_TOO_LONG: 414,
  HEADERS_TOO_LARGE: 431,
} as const satisfies Partial<Record<ErrorCode, number>>;

const nested = (levels: number): string => `{"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

/** Something just over each bound of a media type. */
const excesses: Readonly<Record<string, (input: Input) => readonly Excess[]>> = {
  'application/json': (input) => [
    {
      body: `{"x":"${'x'.repeat(bytesMaxOf(input) - 7)}"}`,
      status: status.PAYLOAD_TOO_LARGE,
      says: `at most ${bytesMaxOf(input)} bytes`,
    },
    { body: nested(bodyDepthMax + 1), status: status.INVALID_HTTP_MESSAGE, says: 'JSON object in UTF-8' },
  ],
  'application/x-www-form-urlencoded': () => [
    { body: `x=${'x'.repeat(65_535)}`, status: status.INVALID_HTTP_MESSAGE, says: 'at most 65536 bytes' },
    { body: 'x=1&'.repeat(65), status: status.INVALID_HTTP_MESSAGE, says: 'at most 64 parameters' },
  ],
  'application/x-ndjson': () => [
    { body: `{"x":"${'x'.repeat(16_384)}"}`, status: 200, says: '16384' },
    { body: nested(5), status: 200, says: 'at most 4 levels deep' },
  ],
  'text/csv': () => [
    {
      body: `${csvColumns.join()}\n${'x'.repeat(16_500)},\n`,
      status: status.INVALID_HTTP_MESSAGE,
      says: '16384',
    },
    { body: `${'x,'.repeat(1_000)}\n`, status: status.INVALID_HTTP_MESSAGE, says: 'has none of them' },
  ],
};

describe('an input just over its bound', () => {
  let service: TestService;
  let origins: Readonly<Record<Input['listener'], string>>;
  let tokens: Readonly<Record<Input['listener'], string>>;

  beforeAll(async () => {
    const port = await freePort();
    service = await startService(await openSqlite(), { MANAGEMENT_PORT: String(port) });
    origins = { public: service.url, management: `http://127.0.0.1:${port}` };
    const tenant = await service.createTenant('acme');
    const { store } = service;
    const now = () => Math.floor(Date.now() / 1000);
    const audit = createAuditLog({ store, now, write: () => undefined });
    const actor = { kind: 'command', user: 'tester' } as const;
    const context = { store, now, audit, actor, onUnrecorded: () => undefined };
    const scopes = ['operator:read', 'operator:write', 'subscription:write'] as const;
    tokens = {
      public: await service.accessToken(await service.createClient(tenant)),
      management: (await createOperator(context, { name: 'test', scopes })).token,
    };
  });
  afterAll(() => service.close());

  /** Sends a request with whatever its route needs to read its body. */
  const send = async (input: Input, more: { query?: string; body?: string; headers?: Record<string, string> }) => {
    const { query = '', body, headers } = more;
    const sending = httpRequest(`${origins[input.listener]}${input.path}${query}`, {
      method: input.method,
      headers: { authorization: `Bearer ${tokens[input.listener]}`, 'sec-fetch-site': 'same-origin', ...headers },
    });
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    sending.on('response', resolve).on('error', reject);
    sending.end(body);
    const response = await promise;
    const text = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString();
    return { status: response.statusCode, text };
  };

  test.each(inputs)('in the URL of $method $path, $listener, gets 414', async (input) => {
    const { status: received } = await send(input, { query: `?${'x'.repeat(8_192 - input.path.length)}` });
    // RFC 6749 §5.2 has no other error for it
    const isOauth = input.types.includes('application/x-www-form-urlencoded');
    expect(received).toBe(isOauth ? status.INVALID_HTTP_MESSAGE : status.URI_TOO_LONG);
  });

  test.each(inputs)('in the headers of $method $path, $listener, gets 431', async (input) => {
    const { status: received } = await send(input, { headers: { cookie: 'x'.repeat(16_384) } });
    expect(received).toBe(status.HEADERS_TOO_LARGE);
  });

  test.each(inputs.filter(({ types }) => types.length > 0))(
    'in the body of $method $path, $listener, is refused as the table says',
    async (input) => {
      for (const type of input.types) {
        const of = excesses[type] ?? expect.unreachable(`nothing bounds a body of ${type}`);
        for (const { body, status: expected, says } of of(input)) {
          const headers = { 'content-type': type };
          const { status: received, text } = await send(input, { body, headers });
          expect([type, received, text]).toEqual([type, expected, expect.stringContaining(says)]);
          expect(text.length).toBeLessThan(8_192);
        }
      }
    },
  );
});

test('the table of inputs has a row for each media type, with its bounds, and names existing files', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  const types = new Set(inputs.flatMap((input) => input.types));
  expect(types).toEqual(new Set(Object.keys(excesses)));
  for (const type of ['url', 'headers', ...types]) expect(rows.join('\n')).toContain(`| \`${type}\` |`);
  const bounds = [8_192, 16_384, 65_536, ...Object.values(jsonBytesMax)];
  for (const bound of bounds) expect(page).toContain(bound.toLocaleString('en'));
  for (const [, file = ''] of page.matchAll(/`([a-z/-]+\.ts)`/g))
    expect(['', 'service/'].some((room) => existsSync(new URL(`../../${room}${file}`, import.meta.url)))).toBe(true);
});
