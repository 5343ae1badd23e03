import fastify from 'fastify';
import { afterAll, expect, test } from 'vitest';
import { addHomeRoute } from './home.ts';

const app = fastify();
addHomeRoute(app, {
  title: 'Reports',
  listener: 'report',
  summary: 'A summary.',
  baseUrl: 'https://reports.example.com/<a>&b',
  links: [
    { name: 'console', label: 'Open the console', path: '/console', hint: 'See your subscriptions' },
    { name: 'docs', label: 'API reference', path: '/docs' },
    { name: 'report', label: 'List subscriptions', path: '/report', method: 'GET' },
  ],
});
afterAll(() => app.close());

const json = 'application/json; charset=utf-8';
const html = 'text/html; charset=utf-8';

test.each([
  [json, undefined],
  [json, '*/*'],
  [json, 'application/json'],
  [json, 'application/json, text/html;q=0.9'],
  [json, 'image/png'],
  [html, 'text/html'],
  [html, 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
])('/ is %s if Accept is %s', async (type, accept) => {
  const { statusCode, headers } = await app.inject({ url: '/', headers: { ...(accept && { accept }) } });
  expect([statusCode, headers['content-type'], headers.vary]).toEqual([200, type, 'Accept']);
});

test('/ has URLs in JSON; its page has relative links and escapes the URL of the listener', async () => {
  expect((await app.inject('/')).json()).toEqual({
    console: 'https://reports.example.com/<a>&b/console',
    docs: 'https://reports.example.com/<a>&b/docs',
    report: 'https://reports.example.com/<a>&b/report',
  });
  const { body } = await app.inject({ url: '/', headers: { accept: 'text/html' } });
  expect(body).toContain('<a href="./console"><b>Open the console</b><small>See your subscriptions</small></a>');
  expect(body).toContain('<dt>API reference</dt><dd><a href="./docs">/docs</a></dd>');
  expect(body).toContain('<code>GET https://reports.example.com/&lt;a&gt;&amp;b/report</code>');
});
