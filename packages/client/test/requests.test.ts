import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../tools/free-port.ts';
import { abortable } from '../clock.ts';
import type {
  CallOptions,
  ClientOptions,
  RequestEvent,
  RetryEvent,
  StoredTokens,
  SubreportClient,
  SubreportError,
} from '../index.ts';
import { createClient } from '../index.ts';
import { type ClientService, createMemoryStore, rejectionOf, startClientService } from './client-service.ts';
import { type Fault, type FaultyProxy, type ProxiedRequest, startFaultyProxy } from './faulty-proxy.ts';
import { createManualClock } from './manual-clock.ts';

let shared: ClientService;
let proxy: FaultyProxy;
beforeAll(async () => {
  shared = await startClientService();
});
afterEach(() => proxy.close());
afterAll(() => shared.service.close());

const isReport = ({ path }: ProxiedRequest): boolean => path.startsWith('/connect-api');

/** A client behind a proxy with faults for the first requests of the report, in order. */
async function clientWithFaults(faults: (Fault | undefined)[], options: Partial<ClientOptions> = {}) {
  const left = [...faults];
  proxy = await startFaultyProxy(shared.service.url, (request) => (isReport(request) ? left.shift() : undefined));
  const clock = createManualClock();
  const urls = { baseUrl: `${proxy.url}/connect-api`, tokenUrl: `${proxy.url}/oauth2/token` };
  return { clock, urls, client: shared.clientOf({ ...urls, ...options } as ClientOptions, shared.credentials, clock) };
}
const reportRequests = () => proxy.requests.filter(isReport);

test.each<[string, Fault]>([
  ['a reset connection', 'reset'],
  ['a response that was cut off', 'cut'],
  ['a response that was lost', 'lose'],
  ['503', { status: 503, body: '{"type":"UNAVAILABLE","detail":"later"}' }],
  ['502 of a proxy', { status: 502, body: '<html>Bad Gateway</html>' }],
])('a request is repeated after %s', async (_name, fault) => {
  const { client, clock } = await clientWithFaults([fault, fault]);
  expect(await client.subscriptions().total()).toBe(250);
  expect(reportRequests()).toHaveLength(3);
  const [first = Number.NaN, second = Number.NaN] = clock.sleeps;
  expect([first <= 500, second <= 1_000, clock.sleeps.length]).toEqual([true, true, 2]);
});

test('a report continues at the page whose request failed', async () => {
  const { client } = await clientWithFaults([undefined, undefined, 'reset', 'cut']);
  expect(await client.subscriptions({ size: 100 }).toArray({ max: 250 })).toHaveLength(250);
  const cursors = reportRequests().map(({ path }) => new URL(path, proxy.url).searchParams.get('cursor'));
  expect(cursors).toHaveLength(5);
  expect(cursors.slice(2)).toEqual([cursors[2], cursors[2], cursors[2]]);
});

test('Retry-After is honoured up to a minute; a longer one is reported at once', async () => {
  const body = '{"type":"TOO_MANY_REQUESTS","detail":"slow down"}';
  const limited = (seconds: string): Fault => ({ status: 429, headers: { 'retry-after': seconds }, body });
  const { client, clock } = await clientWithFaults([limited('17'), undefined, limited('61')]);
  await client.subscriptions().first();
  expect(clock.sleeps).toEqual([17_000]);
  expect(await rejectionOf(client.subscriptions().first())).toMatchObject({
    name: 'ApiError',
    code: 'TOO_MANY_REQUESTS',
    retryAfterMs: 61_000,
    attempts: 1,
  });
  expect(clock.sleeps).toHaveLength(1);
});

test('invalid requests and missing records are not repeated', async () => {
  const { client } = await clientWithFaults([]);
  await rejectionOf(client.subscriptions({ size: 0 }).page());
  await rejectionOf(client.subscription('nobody-has-this'));
  expect(reportRequests()).toHaveLength(2);
});

test.each<[string, Fault]>([
  ['no response', 'hang'],
  ['a body that stops', 'stall'],
])('%s is a TimeoutError after all attempts', async (_name, fault) => {
  const tokenStore = createMemoryStore<StoredTokens>();
  const { client, urls } = await clientWithFaults([fault, fault], { timeoutMs: 300, attempts: 2, tokenStore });
  const patient = shared.clientOf({ ...urls, tokenStore } as Partial<ClientOptions>);
  await patient.token();
  expect(await rejectionOf(client.subscriptions().page())).toMatchObject({
    name: 'TimeoutError',
    code: 'TIMEOUT',
    attempts: 2,
    message: `Cannot reach ${proxy.url}: it must respond within 300 ms`,
  });
});

test('a refused connection is reported as refused', async () => {
  const { client } = await clientWithFaults([], { baseUrl: `http://127.0.0.1:${await freePort()}/connect-api` });
  expect(await rejectionOf(client.subscriptions().page())).toMatchObject({
    name: 'ConnectionError',
    code: 'CONNECTION_REFUSED',
    message: expect.stringContaining('the connection was refused'),
    attempts: 3,
  });
});

test('a host name that does not exist is reported as not found', async () => {
  const { client } = await clientWithFaults([], { baseUrl: 'https://subreport.invalid/connect-api' });
  const { code } = (await rejectionOf(client.subscriptions().page())) as SubreportError;
  expect(code).toBe('HOST_NOT_FOUND');
});

test('headers that overflow are named, and no service that must accept the request', async () => {
  const { client } = await clientWithFaults([{ status: 200, headers: { 'x-long': 'x'.repeat(20_000) } }]);
  expect(await rejectionOf(client.subscriptions().page())).toMatchObject({
    code: 'HEADERS_OVERFLOW',
    message: expect.stringMatching(
      /^Cannot read the response of http:\S+: the headers of the response must be shorter$/,
    ),
  });
});

test('a redirect is an error, and its target receives nothing', async () => {
  let received = 0;
  const elsewhere = createServer((_request, response) => {
    received += 1;
    response.end('[]');
  }).listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  const target = `127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
  const location = `http://user:pass@${target}?login_hint=ada@example.com&state=s`;
  const { client } = await clientWithFaults([{ status: 307, headers: { location } }]);
  expect(await rejectionOf(client.search({ email: 'ada@example.com' }).page())).toMatchObject({
    name: 'ResponseError',
    code: 'REDIRECTED',
    message: expect.stringMatching(new RegExp(`'http://${target}'$`)),
  });
  expect(received).toBe(0);
  elsewhere.close();
});

test.each<[string, Fault, string]>([
  ['an error page of a proxy', { status: 404, body: '<html>' }, 'UNKNOWN_ERROR'],
  ['an error code that is not in the table', { status: 400, body: '{"type":"NEW"}' }, 'UNKNOWN_ERROR'],
  ['a body that is not JSON', { edit: () => Buffer.from('<html>') }, 'UNKNOWN_FORMAT'],
])('%s is a ResponseError', async (_name, fault, code) => {
  const { client } = await clientWithFaults([fault]);
  expect(await rejectionOf(client.subscriptions().page())).toMatchObject({ name: 'ResponseError', code });
  expect(reportRequests()).toHaveLength(1);
});

test.each(['[]', '{}', '{"changes":[],"next":""}'])(
  'a page of changes without a token, %s, is an error',
  async (body) => {
    const { client } = await clientWithFaults([{ status: 200, body }]);
    expect(await rejectionOf(client.changes().next())).toMatchObject({
      name: 'TypeError',
      message: 'Cannot continue the changes: next must be new',
    });
  },
);

test('an aborted call rejects with the reason and sends nothing more', async () => {
  const { client } = await clientWithFaults(['hang'], { attempts: 1 });
  const controller = new AbortController();
  const reason = new Error('the user left');
  const rejected = rejectionOf(client.subscriptions({}, { signal: controller.signal }).page());
  await expect.poll(() => reportRequests().length).toBe(1);
  controller.abort(reason);
  expect(await rejected).toBe(reason);
  expect(await rejectionOf(client.subscriptions({}, { signal: controller.signal }).page())).toBe(reason);
  expect(reportRequests()).toHaveLength(1);
});

test('all attempts of a call have one correlation id, which its error and the service know', async () => {
  const { client } = await clientWithFaults(['reset'], { correlationId: () => 'nightly-7' });
  const error = await rejectionOf(client.subscription('nobody-has-this'));
  expect(error).toMatchObject({ correlationId: 'nightly-7', attempts: 2 });
  expect(reportRequests().map(({ headers }) => headers['x-correlation-id'])).toEqual(['nightly-7', 'nightly-7']);
  await client.subscriptions({}, { correlationId: 'of-this-call' }).page();
  expect(reportRequests().at(-1)?.headers['x-correlation-id']).toBe('of-this-call');
});

/** Each operation of the client; `satisfies` names one that is added. */
const operations = {
  subscriptions: (client, options) => client.subscriptions({}, options).page(),
  search: (client, options) => client.search({}, options).page(),
  subscription: (client, options) => client.subscription('nobody-has-this', options),
  history: (client, options) => client.history('nobody-has-this', options),
  summary: (client, options) => client.summary({}, options),
  findings: (client, options) => client.findings(options),
  changes: (client, options) => client.changes(undefined, options).next(),
  changesSummary: (client, options) => client.changesSummary('2001-01-01T00:00:00Z', options),
  export: async (client, options) => (await client.export({}, { format: 'ndjson', ...options })).cancel(),
  follow: (client, options) => client.follow({ ...options, onPage: () => Promise.reject(new Error('enough')) }),
} satisfies Record<
  Exclude<keyof SubreportClient, 'token' | 'revoke'>,
  (client: SubreportClient, options: CallOptions) => Promise<unknown>
>;

test.each(Object.entries(operations))('%s passes its correlation id and its signal on', async (name, call) => {
  const { client } = await clientWithFaults([undefined, 'hang'], { attempts: 1 });
  const { signal } = new AbortController();
  await call(client, { correlationId: 'of-this-call', signal }).catch(() => undefined);
  expect(reportRequests().map(({ headers }) => headers['x-correlation-id'])).toEqual(['of-this-call']);
  const controller = new AbortController();
  const ended = call(client, { signal: controller.signal }).then(
    () => 'returned',
    (error: unknown) => error,
  );
  await expect.poll(() => reportRequests().length).toBe(2);
  controller.abort('the user left');
  expect(await ended).toBe(name === 'follow' ? 'returned' : 'the user left');
});

test('a call without a correlation id gets one', async () => {
  const { client } = await clientWithFaults([]);
  const [first, second] = [await client.subscriptions().page(), await client.subscriptions().page()];
  expect(first.correlationId).toMatch(/^[0-9a-f]{32}$/);
  expect(first.correlationId).not.toBe(second.correlationId);
});

test('hooks see every attempt and no secret', async () => {
  const events: (RequestEvent | RetryEvent)[] = [];
  const hook = (event: RequestEvent) => events.push(event);
  const { client } = await clientWithFaults(['reset'], { onRequest: hook, onResponse: hook, onRetry: hook });
  const { accessToken } = await client.token();
  events.length = 0;
  await client.subscriptions().page();
  expect(events.map(({ attempt }) => attempt)).toEqual([1, 1, 2, 2]);
  expect(events[1]).toMatchObject({ error: { code: 'CONNECTION_LOST' }, waitMs: expect.any(Number) });
  expect(events[3]).toMatchObject({ status: 200, durationMs: expect.any(Number) });
  expect(JSON.stringify(events)).not.toContain(accessToken);
});

test('a URL that would send secrets unencrypted is rejected', async () => {
  await clientWithFaults([]);
  const create =
    (baseUrl: string, allowHttp = false) =>
    () =>
      shared.clientOf({ baseUrl, allowHttp } as ClientOptions);
  expect(create('http://reports.example.com/connect-api')).toThrow(/must be https/);
  expect(create('https://user:secret@reports.example.com')).toThrow(/current value is 'https:\/\/reports/);
  expect(create('http://reports.example.com/connect-api', true)).not.toThrow();
  expect(create('http://[::1]:8080/connect-api')).not.toThrow();
});

const endless = (text: string, status: number): Fault => ({ endless: text, status });

test.each<[string, Fault, number]>([
  ['a page that never ends', endless(' ', 200), 32 * 2 ** 20],
  ['an error that never ends', endless(' ', 400), 2 ** 20],
])('%s is a ResponseError once it is too long', async (_name, fault, bytes) => {
  const { client } = await clientWithFaults([fault], { attempts: 1, timeoutMs: 100_000 });
  expect(await rejectionOf(client.subscriptions().page())).toMatchObject({
    name: 'ResponseError',
    code: 'UNKNOWN_FORMAT',
    message: `Cannot read the response of ${proxy.url}: it must be at most ${bytes} bytes`,
  });
});

test('a base URL without the path of the API is named in the error', async () => {
  const { client } = await clientWithFaults([]);
  const base = shared.clientOf({ baseUrl: `${proxy.url}/` } as ClientOptions);
  const asked = {
    code: 'NOT_FOUND',
    message: expect.stringContaining(`: is the base URL '${proxy.url}/connect-api'?`),
  };
  expect(await rejectionOf(base.subscriptions().page())).toMatchObject(asked);
  expect(await rejectionOf(base.summary())).toMatchObject(asked);
  const { message } = (await rejectionOf(client.subscription('nobody-has-this'))) as SubreportError;
  expect(message).not.toContain('base URL');
});

test('the URL of a service, of its API or of a page of it is enough', async () => {
  const { client_id: clientId, client_secret: clientSecret } = shared.credentials;
  const { url } = shared.service;
  for (const given of [
    url,
    `${url}/`,
    `${url}/connect-api`,
    `${url}/console`,
    `${url}/console/subscriptions?status=x`,
  ]) {
    const client = createClient({ url: given, clientId, clientSecret });
    expect(await client.subscriptions().total()).toBe(250);
  }
  const elsewhere = createClient({ url: `${url}/reports`, clientId, clientSecret });
  expect(await rejectionOf(elsewhere.subscriptions().total())).toMatchObject({
    message: expect.stringContaining(`: is '${url}/reports' the URL of the service, or the issuer of its tokens?`),
  });
});

test('a variable that is not set is named by the error of createClient', () => {
  const url = 'https://reports.example.com';
  const [clientId, clientSecret] = ['a', undefined as string | undefined];
  expect(() => createClient({ url, clientId, clientSecret })).toThrow(
    'Cannot request tokens: clientSecret must be given: is CLIENT_SECRET set?',
  );
  expect(() => createClient({ url, clientId: '', clientSecret })).toThrow(
    /clientId must be given: is CLIENT_ID set\?; clientSecret must/,
  );
  expect(() => createClient({ url: undefined, clientId, clientSecret: 'b' })).toThrow(/url must be given/);
  const baseUrl = 'undefined/connect-api';
  expect(() => createClient({ baseUrl, tokenUrl: url, clientId, clientSecret: 'b' })).toThrow(
    /must be one such as https:\/\/reports.example.com: current value is 'undefined\/connect-api'/,
  );
});

test('an abort ends the wait before a request is repeated', async () => {
  const { urls } = await clientWithFaults(['reset']);
  const controller = new AbortController();
  const endlessSleep = (_ms: number, signal?: AbortSignal) => abortable(new Promise<void>(() => undefined), signal);
  const clock = { ...createManualClock(), sleep: endlessSleep };
  const onRetry = () => controller.abort('enough');
  const options = { ...urls, onRetry } as unknown as Partial<ClientOptions>;
  const waiting = shared.clientOf(options, shared.credentials, clock).subscriptions({}, { signal: controller.signal });
  expect(await rejectionOf(waiting.total())).toBe('enough');
});
