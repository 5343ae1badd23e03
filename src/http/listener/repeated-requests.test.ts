import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Access } from '../../auth/resource-server.ts';
import { createRepeatedRequests, installRepeatedRequests, type RepeatedRequests } from './repeated-requests.ts';

describe('repeated requests', () => {
  // a server whose only route counts its calls, and whose responses may be repeated
  let app: FastifyInstance;
  let url: string;
  let repeated: RepeatedRequests;
  let calls = 0;
  let changeMark: number | undefined;
  let now = 0;
  let draining = false;
  let body: Buffer | undefined;
  let hold: Promise<void> | undefined;
  let quota: readonly string[] | undefined;
  const lines: Record<string, unknown>[] = [];
  const access = { clientId: 'client', tenant: 'acme', expiresAt: 100 } as Access;

  beforeEach(async () => {
    [calls, changeMark, now, draining, body, quota] = [0, 1, 0, false, Buffer.from('body'), []];
    lines.length = 0;
    app = fastify({ rewriteUrl: ({ url = '' }) => url.replace('/report/', '/report') });
    app.decorateRequest('access', null);
    repeated = createRepeatedRequests({
      store: { changeMark: () => changeMark },
      logger: { info: (line: object) => void lines.push({ ...line }) },
      now: () => now,
      isDraining: () => draining,
      limiter: { countRepeated: () => quota },
    });
    app.route({
      method: ['GET', 'POST'],
      url: '/report',
      handler: async (request, reply) => {
        calls += 1;
        await hold;
        request.access = access;
        reply.headers({ etag: '"tag"', 'x-correlation-id': request.id, 'server-timing': 'run;dur=1' });
        const status = request.headers['if-none-match'] === undefined ? 200 : 304;
        repeated.keep(request, reply, { status, body: () => body, heldBytes: 0 });
        return status === 304 ? reply.code(304).send() : reply.send(Buffer.from('body'));
      },
    });
    installRepeatedRequests(app.server, repeated);
    app.server.listen(0, '127.0.0.1');
    await Promise.all([once(app.server, 'listening'), app.ready()]);
    url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/report`;
  });
  afterEach(() => app.close());

  const get = (headers: Record<string, string> = {}, path = '') => fetch(url + path, { headers });
  test('each response has the current quota, and the route rejects a client that has used it up', async () => {
    await get();
    quota = ['ratelimit', '"client";r=4;t=60'];
    const response = await get();
    expect([calls, response.headers.get('ratelimit')]).toEqual([1, '"client";r=4;t=60']);
    quota = undefined;
    expect(await callsOf(get)).toBe(1);
  });

  /** How often requests, one after another, called the route. */
  const callsOf = async (...requests: readonly (() => Promise<Response>)[]): Promise<number> => {
    const before = calls;
    for (const send of requests) await (await send()).arrayBuffer();
    return calls - before;
  };

  test('a request whose URL the server rewrites is repeated, too', async () => {
    expect(await callsOf(...Array.from({ length: 3 }, () => () => get({}, '/')))).toBe(1);
  });

  test('a repeated request gets the same response without its route', async () => {
    const [first, second] = [await get(), await get()];
    expect([first.status, await first.text(), first.headers.get('etag')]).toEqual([200, 'body', '"tag"']);
    expect([second.status, await second.text(), second.headers.get('etag')]).toEqual([200, 'body', '"tag"']);
    expect(second.headers.get('content-length')).toBe('4');
    expect(second.headers.get('server-timing')).toBe('cache;desc="repeated"');
    expect(calls).toBe(1);
  });

  test('a repeated request with If-None-Match gets 304 without a body', async () => {
    const headers = { 'if-none-match': '"tag"' };
    expect(await callsOf(...Array.from({ length: 3 }, () => () => get(headers)))).toBe(1);
    const response = await get(headers);
    expect([response.status, await response.text(), response.headers.get('etag')]).toEqual([304, '', '"tag"']);
    expect(response.headers.get('content-length')).toBeNull();
  });

  test('a repeated request has its own correlation id, which may differ from that of the first', async () => {
    const ids = [];
    for (const given of ['one', 'two', undefined]) {
      const response = await get(given === undefined ? {} : { 'X-Correlation-ID': given });
      ids.push(response.headers.get('x-correlation-id'));
    }
    expect(ids).toEqual([expect.any(String), 'two', expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(calls).toBe(1);
  });

  test('a request with another URL, method or header is not a repeated one', async () => {
    await get();
    expect(await callsOf(() => get({}, '?size=5'))).toBe(1);
    expect(await callsOf(() => get({ authorization: 'Bearer other' }))).toBe(1);
    expect(await callsOf(() => get({ accept: 'text/csv' }))).toBe(1);
    expect(await callsOf(() => fetch(url, { method: 'POST' }))).toBe(1);
    expect(await callsOf(() => get())).toBe(0);
  });

  test('a repeated request reaches its route when the change mark differs or is unknown', async () => {
    await get();
    changeMark = 2;
    expect(await callsOf(get, get)).toBe(1);
    changeMark = undefined;
    expect(await callsOf(get, get)).toBe(2);
    changeMark = 2;
    expect(await callsOf(get, get)).toBe(1);
  });

  test('a repeated request sees a commit made since the previous request of the same turn of the event loop (T10)', async () => {
    await get();
    const raw = { method: 'GET', url: '/report', httpVersion: '1.1', headers: {}, rawHeaders: [] };
    const request = raw as unknown as IncomingMessage;
    const response = { writeHead: () => undefined, end: () => undefined } as unknown as ServerResponse;
    const sent = { raw: request, originalUrl: '/report', routeOptions: {}, access } as unknown as FastifyRequest;
    const reply = { getHeaders: () => ({}) } as unknown as FastifyReply;
    expect(repeated.respond(request, response)).toBe(false);
    repeated.keep(sent, reply, { status: 200, body: () => body, heldBytes: 0 });
    expect(repeated.respond(request, response)).toBe(true);
    changeMark = 2;
    expect(repeated.respond(request, response)).toBe(false);
  });

  test('a repeated request reaches its route when the token has expired', async () => {
    await get();
    now = 99;
    expect(await callsOf(get)).toBe(0);
    now = 100;
    expect(await callsOf(get, get)).toBe(2);
  });

  test('a repeated request reaches its route when the body is no longer cached', async () => {
    await get();
    body = undefined;
    expect(await callsOf(get)).toBe(1);
  });

  test('a repeated request reaches its route while the process shuts down', async () => {
    await get();
    draining = true;
    expect(await callsOf(get)).toBe(1);
  });

  test('a request that is too long is not cached', async () => {
    const long = () => get({ 'x-filler': 'a'.repeat(5_000) });
    expect(await callsOf(long, long)).toBe(2);
  });

  test('a response is not cached when the change mark changed while it was made', async () => {
    let respondToFirst = (): void => undefined;
    hold = new Promise((resolve) => {
      respondToFirst = resolve;
    });
    const first = get();
    await expect.poll(() => calls).toBe(1);
    hold = undefined;
    changeMark = 2;
    await get({}, '?other');
    respondToFirst();
    await (await first).arrayBuffer();
    expect(await callsOf(get)).toBe(1);
  });

  test('a repeated request is in the access log like any other, without its URL', async () => {
    await get();
    await (await get({ 'x-correlation-id': 'mine' }, '')).arrayBuffer();
    expect(lines).toEqual([
      {
        correlation_id: 'mine',
        method: 'GET',
        route: '/report',
        status: 200,
        duration_ms: expect.any(Number),
        client_id: 'client',
        tenant: 'acme',
      },
    ]);
  });

  test('the least recently used response is evicted when 2,000 others are cached', async () => {
    await get({}, '?first');
    for (let n = 0; n < 2_000; n += 1) await (await get({}, `?n=${n}`)).arrayBuffer();
    expect(await callsOf(() => get({}, '?n=1999'))).toBe(0);
    expect(await callsOf(() => get({}, '?first'))).toBe(1);
  });

  test('repeated requests cannot be installed on a server without a request listener', () => {
    expect(() => installRepeatedRequests(createServer(), repeated)).toThrow(TypeError);
  });
});
