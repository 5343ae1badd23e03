import fastify from 'fastify';
import { afterAll, expect, test } from 'vitest';
import { addHomeRoute } from './home.ts';

const [app, bare] = [fastify(), fastify()];
addHomeRoute(app, { listener: 'report', baseUrl: 'https://reports.example.com', hasConsole: true });
addHomeRoute(bare, { listener: 'operator', baseUrl: '', hasConsole: false });
afterAll(() => Promise.all([app.close(), bare.close()]));

test.each([
  [200, undefined],
  [200, '*/*'],
  [200, 'application/json'],
  [200, 'application/json, text/html;q=0.9'],
  [200, 'image/png'],
  [302, 'text/html'],
  [302, 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
])('/ has status %i if Accept is %s', async (status, accept) => {
  const { statusCode, headers } = await app.inject({ url: '/', headers: { ...(accept && { accept }) } });
  expect([statusCode, headers.vary]).toEqual([status, 'Accept']);
});

test('/ leads browsers to the console, or else to the API reference', async () => {
  const targetOf = async (listener: typeof app) =>
    (await listener.inject({ url: '/', headers: { accept: 'text/html' } })).headers.location;
  expect([await targetOf(app), await targetOf(bare)]).toEqual(['./console', './docs']);
});
