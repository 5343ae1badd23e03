import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSqlite } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { consoleOperations } from '../../../contract/oauth/console-session.ts';
import { operations } from '../../../contract/operations.ts';
import { operatorApi } from '../../../contract/operator/operations.ts';

let service: TestService;
const urls = { public: '', management: '' };
beforeAll(async () => {
  const port = String(await freePort());
  service = await startService(await openSqlite(), { MANAGEMENT_PORT: port });
  Object.assign(urls, { public: service.url, management: `http://127.0.0.1:${port}` });
});
afterAll(() => service.close());

const pages = ['/', '/docs', '/docs/', '/docs/reference.js', '/openapi.json', '/healthz', '/readyz'];
const onPublic = ['/oauth2/jwks', '/console', '/console/', '/console/exports', '/console/subscriptions/a%2Fb'];
const onManagement = ['/metrics', '/console', '/console/tenants/acme'];

test.each([
  ...[...pages, ...onPublic].map((path) => ['public', path] as const),
  ...[...pages, ...onManagement].map((path) => ['management', path] as const),
])('on the %s listener, %s has HEAD beside GET, and other methods get 405 with Allow', async (listener, path) => {
  const url = urls[listener] + path;
  const got = await fetch(url);
  const head = await fetch(url, { method: 'HEAD' });
  const describe = ({ status, headers }: Response) => [status, headers.get('content-type')];
  expect([describe(head), await head.text()]).toEqual([describe(got), '']);
  expect(got.status).toBe(200);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const response = await fetch(url, { method });
    await expectProblem(response, 'METHOD_NOT_ALLOWED');
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  }
  expect((await fetch(url, { method: 'OPTIONS' })).status).toBe(204);
});

test.each([
  ['/console/session', 'PUT', 'DELETE, GET, HEAD, OPTIONS, POST'],
  ['/console/connect-api/v1/subscription', 'DELETE', 'GET, HEAD, OPTIONS'],
  ['/console/connect-api/v1/subscription/search', 'GET', 'OPTIONS, POST'],
  ['/connect-api/v1/subscription/search', 'GET', 'OPTIONS, POST'],
  ['/connect-api/v1/subscription/summary', 'POST', 'GET, HEAD, OPTIONS'],
  ['/connect-api/v1/subscription/changes', 'POST', 'GET, HEAD, OPTIONS'],
])('%s refuses %s and allows %s', async (path, method, allow) => {
  const response = await fetch(service.url + path, { method });
  await expectProblem(response, 'METHOD_NOT_ALLOWED');
  expect(response.headers.get('allow')).toBe(allow);
});

test.each(['/console/static/none.js', '/console/no/such/page', '/healthz/', '/docs/none'])(
  'no method of %s, which does not exist, gets anything but 404',
  async (path) => {
    for (const method of ['GET', 'POST', 'OPTIONS'])
      if (method === 'GET' || !path.includes('static'))
        await expectProblem(await fetch(service.url + path, { method }), 'NOT_FOUND');
  },
);

const unread = (listener: keyof typeof urls, table: Readonly<Record<string, { method: string; path: string }>>) =>
  Object.values(table)
    .filter(({ method }) => method === 'GET' || method === 'DELETE')
    .map(({ method, path }) => [listener, method, path.replaceAll(/\{\w+\}/g, 'a')] as const);

test.each([
  ...unread('public', operations),
  ...unread('public', consoleOperations),
  ...unread('management', operatorApi),
  ['public', 'GET', '/console/connect-api/v1/subscription'],
  ['public', 'HEAD', '/connect-api/v1/subscription'],
] as const)('on the %s listener, %s %s with a body is a 400, unless it is empty', async (listener, method, path) => {
  const send = async (headers: Record<string, string>, body = '') => {
    const sending = request(urls[listener] + path, { method, headers });
    sending.end(body);
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    return [response.statusCode, await text(response)];
  };
  const [status] = await send({});
  for (const headers of [{ 'content-length': '15' }, { 'transfer-encoding': 'chunked' }]) {
    const [code, problem] = await send(headers, 'status=DEPLETED');
    expect([headers, code]).toEqual([headers, 400]);
    if (method !== 'HEAD') expect(problem).toContain(`a ${method} must have no body: send its parameters in the query`);
    if (path.endsWith('/v1/subscription') && method === 'GET')
      expect(problem).toContain('or with POST to /connect-api/v1/subscription/search');
  }
  for (const headers of [{ 'content-length': '0' }, { 'transfer-encoding': 'chunked' }])
    expect([headers, (await send(headers))[0]]).toEqual([headers, status]);
});
