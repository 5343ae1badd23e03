import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSqlite } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';

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
