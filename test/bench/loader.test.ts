import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { type Load, runLoad } from '../../bench/support/loader.ts';
import { getRequest } from '../../bench/support/our-service.ts';

const servers: Server[] = [];

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const load = (port: number, more: Partial<Load> = {}) =>
  runLoad({ port, requests: [getRequest('/', {})], connections: 3, seconds: 0.3, status: 200, ...more });

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

describe('the loader of the benchmarks', () => {
  test('counts the answers that came within the time, those in pieces too, over so many connections', async () => {
    const sockets = new Set<unknown>();
    const seen: (string | undefined)[] = [];
    const port = await listen(async (request, response) => {
      sockets.add(request.socket);
      seen.push(request.url);
      response.writeHead(200, { 'content-length': '10' });
      response.write('01234');
      await sleep(10);
      response.end('56789');
    });
    const requests = ['/a', '/b'].map((path) => getRequest(path, {}));
    const { perSecond, p50Ms, p99Ms } = await load(port, { requests });
    expect(sockets.size).toBe(3);
    const counted = Math.round(perSecond * 0.3);
    expect(counted).toBeGreaterThan(3);
    expect(seen.length - counted).toBe(3); // the last one of each connection ended too late
    expect(new Set(seen)).toEqual(new Set(['/a', '/b']));
    expect(p50Ms).toBeGreaterThan(9);
    expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
  });

  test('a request that follows a response is made from its body, the first one of each connection from the list', async () => {
    const bodies = new Map<unknown, string[]>();
    const port = await listen((request, response) => {
      const seen = bodies.get(request.socket) ?? [];
      bodies.set(request.socket, seen);
      seen.push(request.url ?? '');
      response.writeHead(200, { 'content-length': '4' }).write(String(seen.length % 100).padStart(2, '0'));
      setTimeout(() => response.end('ab'), 1);
    });
    const requests = ['/first/0', '/first/1'].map((path) => getRequest(path, {}));
    const follow = (body: string, connection: number): Buffer => getRequest(`/${body}/${connection}`, {});
    await load(port, { requests, follow, connections: 2 });
    for (const seen of bodies.values()) {
      const connection = seen[0]?.at(-1);
      expect(seen.slice(0, 3)).toEqual(['first', '01ab', '02ab'].map((part) => `/${part}/${connection}`));
    }
    expect([...bodies.values()].map(([first]) => first).sort()).toEqual(['/first/0', '/first/1']);
  });

  test('304 has no body', async () => {
    const port = await listen((_request, response) => response.writeHead(304).end());
    expect((await load(port, { status: 304 })).perSecond).toBeGreaterThan(10);
  });

  test.each([
    ['another status', { 'content-length': '2' }, 500],
    ['an answer that does not tell its length', {}, 200],
  ])('%s fails the measurement', async (_what, headers, status) => {
    const port = await listen((_request, response) => response.writeHead(status, headers).end('no'));
    await expect(load(port)).rejects.toThrow(/^Cannot measure/);
  });
});
