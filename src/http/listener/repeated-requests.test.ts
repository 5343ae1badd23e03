import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Access } from '../../auth/resource-server.ts';
import { createRepeatedRequests, type RepeatedRequests } from './repeated-requests.ts';

/** A server whose only route counts how often it was asked, and lets its answers be repeated. */
describe('a request that is sent again', () => {
  let app: FastifyInstance;
  let url: string;
  let repeated: RepeatedRequests;
  let asked = 0;
  let mark: number | undefined;
  let now = 0;
  let draining = false;
  let body: Buffer | undefined;
  let hold: Promise<void> | undefined;
  const lines: Record<string, unknown>[] = [];
  const access = { clientId: 'client', tenant: 'acme', expiresAt: 100 } as Access;

  beforeEach(async () => {
    [asked, mark, now, draining, body] = [0, 1, 0, false, Buffer.from('answer')];
    lines.length = 0;
    app = fastify();
    app.decorateRequest('access', null);
    repeated = createRepeatedRequests({
      changeMark: () => mark,
      logger: { info: (line: object) => void lines.push({ ...line }) },
      now: () => now,
      isDraining: () => draining,
    });
    app.route({
      method: ['GET', 'POST'],
      url: '/report',
      handler: async (request, reply) => {
        asked += 1;
        await hold;
        request.access = access;
        reply.headers({ etag: '"tag"', 'x-correlation-id': request.id, 'server-timing': 'run;dur=1' });
        const status = request.headers['if-none-match'] === undefined ? 200 : 304;
        repeated.keep(request, reply, { status, body: () => body, heldBytes: 0 });
        return status === 304 ? reply.code(304).send() : reply.send(Buffer.from('answer'));
      },
    });
    const [handle] = app.server.listeners('request') as ((...args: unknown[]) => void)[];
    app.server.removeAllListeners('request');
    app.server.on('request', (request, response) => {
      if (!repeated.answer(request, response)) handle?.(request, response);
    });
    app.server.listen(0, '127.0.0.1');
    await Promise.all([once(app.server, 'listening'), app.ready()]);
    url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/report`;
  });
  afterEach(() => app.close());

  const get = (headers: Record<string, string> = {}, path = '') => fetch(url + path, { headers });
  /** How often the route was asked by requests one after another. */
  const askedBy = async (...requests: readonly (() => Promise<Response>)[]): Promise<number> => {
    const before = asked;
    for (const send of requests) await (await send()).arrayBuffer();
    return asked - before;
  };

  test('gets the same answer without being looked at', async () => {
    const [first, second] = [await get(), await get()];
    expect([first.status, await first.text(), first.headers.get('etag')]).toEqual([200, 'answer', '"tag"']);
    expect([second.status, await second.text(), second.headers.get('etag')]).toEqual([200, 'answer', '"tag"']);
    expect(second.headers.get('content-length')).toBe('6');
    expect(second.headers.get('server-timing')).toBe('cache;desc="repeated"');
    expect(asked).toBe(1);
  });

  test('with If-None-Match gets 304 without a body', async () => {
    const headers = { 'if-none-match': '"tag"' };
    expect(await askedBy(...Array.from({ length: 3 }, () => () => get(headers)))).toBe(1);
    const response = await get(headers);
    expect([response.status, await response.text(), response.headers.get('etag')]).toEqual([304, '', '"tag"']);
    expect(response.headers.get('content-length')).toBeNull();
  });

  test('has a correlation id of its own, which decides nothing', async () => {
    const ids = [];
    for (const given of ['one', 'two', undefined]) {
      const response = await get(given === undefined ? {} : { 'X-Correlation-ID': given });
      ids.push(response.headers.get('x-correlation-id'));
    }
    expect(ids).toEqual([expect.any(String), 'two', expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(asked).toBe(1);
  });

  test('is another one when its URL, method or any header differs', async () => {
    await get();
    expect(await askedBy(() => get({}, '?size=5'))).toBe(1);
    expect(await askedBy(() => get({ authorization: 'Bearer other' }))).toBe(1);
    expect(await askedBy(() => get({ accept: 'text/csv' }))).toBe(1);
    expect(await askedBy(() => fetch(url, { method: 'POST' }))).toBe(1);
    expect(await askedBy(() => get())).toBe(0);
  });

  test('is answered anew once the mark has changed, or cannot be known', async () => {
    await get();
    mark = 2;
    expect(await askedBy(get, get)).toBe(1);
    mark = undefined;
    expect(await askedBy(get, get)).toBe(2);
    mark = 2;
    expect(await askedBy(get, get)).toBe(1);
  });

  test('sees a commit that came between two requests of one turn of the event loop (T10)', async () => {
    await get();
    const raw = { method: 'GET', url: '/report', httpVersion: '1.1', headers: {}, rawHeaders: [] };
    const request = raw as unknown as IncomingMessage;
    const response = { writeHead: () => undefined, end: () => undefined } as unknown as ServerResponse;
    const sent = { raw: request, routeOptions: {}, access } as unknown as FastifyRequest;
    const reply = { getHeaders: () => ({}) } as unknown as FastifyReply;
    expect(repeated.answer(request, response)).toBe(false);
    repeated.keep(sent, reply, { status: 200, body: () => body, heldBytes: 0 });
    expect(repeated.answer(request, response)).toBe(true);
    mark = 2;
    expect(repeated.answer(request, response)).toBe(false);
  });

  test('is answered anew when the token has run out', async () => {
    await get();
    now = 99;
    expect(await askedBy(get)).toBe(0);
    now = 100;
    expect(await askedBy(get, get)).toBe(2);
  });

  test('is answered anew when its bytes are no longer kept', async () => {
    await get();
    body = undefined;
    expect(await askedBy(get)).toBe(1);
  });

  test('is answered anew while the process is on its way out', async () => {
    await get();
    draining = true;
    expect(await askedBy(get)).toBe(1);
  });

  test('is not remembered when it is too long', async () => {
    const long = () => get({ 'x-filler': 'a'.repeat(5_000) });
    expect(await askedBy(long, long)).toBe(2);
  });

  test('is not remembered when the mark has changed before its answer was there', async () => {
    let answerFirst = (): void => undefined;
    hold = new Promise((resolve) => {
      answerFirst = resolve;
    });
    const first = get();
    await expect.poll(() => asked).toBe(1);
    hold = undefined;
    mark = 2;
    await get({}, '?other');
    answerFirst();
    await (await first).arrayBuffer();
    expect(await askedBy(get)).toBe(1);
  });

  test('is written to the access log as any other, without its URL', async () => {
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

  test('pushes out the one kept longest ago when there are too many', async () => {
    await get({}, '?first');
    for (let n = 0; n < 2_000; n += 1) await (await get({}, `?n=${n}`)).arrayBuffer();
    expect(await askedBy(() => get({}, '?n=1999'))).toBe(0);
    expect(await askedBy(() => get({}, '?first'))).toBe(1);
  });
});
