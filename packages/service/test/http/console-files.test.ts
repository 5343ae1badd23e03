import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { consolesFolder } from '../../../../tools/build-console.ts';
import { addConsolePages } from '../../http/console/pages.ts';

const app = fastify();
await addConsolePages(app, 'report');
afterAll(() => app.close());

const names = readdirSync(join(consolesFolder, 'report/static'));
const get = (url: string, coding = '') => app.inject({ url, headers: { 'accept-encoding': coding } });

test('each file of a console is sent in the coding that the browser prefers, and kept for a year', async () => {
  const scripts = names.filter((name) => name.endsWith('.js') && names.includes(`${name}.br`));
  expect(scripts.length).toBeGreaterThan(5);
  for (const name of scripts) {
    const plain = await get(`/console/static/${name}`);
    const brotli = await get(`/console/static/${name}`, 'zstd, br, gzip;q=0.5');
    const gzip = await get(`/console/static/${name}`, 'gzip');
    expect(plain.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    });
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect([brotli, gzip].map(({ headers }) => headers['content-encoding'])).toEqual(['br', 'gzip']);
    expect(brotliDecompressSync(brotli.rawPayload).equals(plain.rawPayload)).toBe(true);
    expect(gunzipSync(gzip.rawPayload).equals(plain.rawPayload)).toBe(true);
  }
});

test('a page of a console is read again at each load', async () => {
  const { headers, body } = await get('/console/subscriptions');
  expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
  expect(body).toContain('/console/static/');
});

test.each([
  '',
  'absent.js',
  '..%2findex.html',
  '%2e%2e%2findex.html',
  '.hidden.js',
  'index.html',
  'a%00.js',
  '..%5cx.js',
])('no file of a console is named %j', async (name) =>
  expect((await get(`/console/static/${name}`)).statusCode).toBe(404),
);

test('the compressed form has no address of its own', async () => {
  const [compressed = ''] = names.filter((name) => name.endsWith('.br'));
  expect((await get(`/console/static/${compressed}`)).statusCode).toBe(404);
});

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('an unknown page of a console', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService(await engines[0].openTestStore());
  });
  afterAll(() => service.close());

  test.each(['nope', 'tenants', 'findings/x', 'sims', 'subscriptions/a/b'])(
    'is a page for browsers alone: %s',
    async (path) => {
      const send = (accept: string) => fetch(`${service.url}/console/${path}`, { headers: { accept } });
      const page = await send(browser);
      const named = ['content-type', 'vary'].map((name) => page.headers.get(name));
      expect([page.status, ...named]).toEqual([404, 'text/html; charset=utf-8', 'Accept']);
      expect(await page.text()).toContain('/console/static/');
      for (const accept of ['', '*/*', 'application/json', 'application/json, text/html;q=0.5']) {
        const response = await send(accept);
        expect(response.headers.get('vary')).toBe('Accept');
        await expectProblem(response, 'NOT_FOUND');
      }
    },
  );
});
