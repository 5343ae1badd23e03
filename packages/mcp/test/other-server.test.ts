import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Assistant, connectOldest } from './assistant.ts';

const secret = 'a secret of this client';
const token = 'eyJhbGciOiJub25lIn0.e30.c2lnbmF0dXJl';

const record = (id: string) => ({ id, product: { id: 'p', name: secret }, device_id: token, iccid: '1' });

/** A server of the API that sends no total, and what it was sent. */
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const send = (body: unknown) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (pathname.endsWith('oauth-authorization-server'))
    send({ issuer: url, token_endpoint: `${url}/token`, revocation_endpoint: `${url}/revoke` });
  else if (pathname === '/token') send({ access_token: token, token_type: 'Bearer', expires_in: 300 });
  else if (searchParams.has('all'))
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(`${JSON.stringify(record('a'))}\n`);
  else if (pathname.endsWith('/summary')) send({ total: `${secret} ${token}` });
  else send([record('a'), record('b')]);
});

let url: string;
let assistant: Assistant;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  assistant = await connectOldest({ url }, { client_id: 'acme', client_secret: secret } as never);
});
afterAll(async () => {
  await assistant?.close();
  server.close();
});

const textOf = async (name: string, given: Record<string, unknown> = {}): Promise<string> =>
  (await assistant.call(name, given)).content.map(({ text }) => text).join('');

test('an answer has no secret of the program that a server echoes', async () => {
  const text = await textOf('list_subscriptions');
  expect(JSON.parse(text)).toMatchObject({ more: expect.stringContaining('there may be others'), rows: { length: 2 } });
  expect(text).toContain('***');
  for (const each of [secret, token]) expect(text).not.toContain(each);
});

test('the past is not listed without a total', async () => {
  const rule = 'the server must send X-Total-Count';
  expect(await textOf('list_subscriptions', { 'as-of': '2026-01-01' })).toBe(`Cannot list the past: ${rule}`);
});

test('a response of another shape is one sentence without a secret', async () => {
  const text = await textOf('summarize_subscriptions');
  expect(text).toBe(
    'Cannot use the response of /connect-api/v1/subscription/summary: it must be of the API: its body.by must be given',
  );
});
