import { afterAll, beforeAll, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';

const publicUrl = 'https://example.com/reports';
let service: TestService;
let management: string;

beforeAll(async () => {
  const port = String(await freePort());
  management = `http://127.0.0.1:${port}`;
  const settings = { PUBLIC_URL: publicUrl, CONSOLE: 'false', MANAGEMENT_PORT: port };
  service = await startService(await engines[0].openTestStore(), settings);
});
afterAll(() => service.close());

/** The paths that `/` names, each with the status of a GET without credentials. */
async function statusesAt(listener: string, prefix: string): Promise<Record<string, number>> {
  const urls = (await (await fetch(listener)).json()) as Record<string, string>;
  const paths = Object.values(urls).map((url) => url.slice(prefix.length));
  const statuses = paths.map(async (path) => [path, (await fetch(listener + path, { redirect: 'manual' })).status]);
  return Object.fromEntries(await Promise.all(statuses));
}

test('/ names only what the public listener serves, below PUBLIC_URL, and no console if CONSOLE=false', async () => {
  expect(await statusesAt(service.url, publicUrl)).toEqual({
    '/docs': 200,
    '/openapi.json': 200,
    '/healthz': 200,
    '/readyz': 200,
    '/.well-known/oauth-authorization-server': 200,
    '/oauth2/token': 405,
    '/connect-api/v1/subscription': 401,
  });
});

test('/ names only what the management listener serves', async () => {
  expect(await statusesAt(management, '')).toEqual({
    '/docs': 200,
    '/openapi.json': 200,
    '/healthz': 200,
    '/readyz': 200,
    '/operator/v1/tenants/{tenant}/subscriptions': 405,
    '/metrics': 200,
  });
});

test('/ leads browsers to the API reference without a console, and others to JSON', async () => {
  const get = (url: string, accept: string) => fetch(url, { headers: { accept }, redirect: 'manual' });
  for (const accept of ['*/*', 'application/json, text/html;q=0.9', 'image/png'])
    expect((await get(service.url, accept)).status).toBe(200);
  const page = await get(service.url, 'text/html,application/xhtml+xml,*/*;q=0.8');
  expect([page.status, page.headers.get('location'), page.headers.get('vary')]).toEqual([302, './docs', 'Accept']);
});

test('the API reference and its document are compressed for clients that accept it', async () => {
  for (const url of [`${service.url}/docs`, `${service.url}/openapi.json`, `${management}/docs`]) {
    const get = async (coding: string) => {
      const response = await fetch(url, { headers: { 'accept-encoding': coding } });
      const { headers } = response;
      return { coding: headers.get('content-encoding'), vary: headers.get('vary'), text: await response.text() };
    };
    const plain = await get('identity');
    expect(plain.coding).toBeNull();
    for (const coding of ['gzip', 'br', 'br']) expect(await get(coding)).toEqual({ ...plain, coding });
  }
});
