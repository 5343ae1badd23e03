import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A load balancer on loopback: each request goes to the next backend whose `/readyz` returned 200
 * at the last check. It retries nothing.
 */
export interface Balancer {
  readonly url: string;
  /** Adds a backend by its URL; it gets requests once it is ready. */
  add(backend: string): void;
  /** Resolves after the next check that finds exactly these backends ready. */
  untilReady(...backends: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Interval between two checks of all backends, in milliseconds. */
const checkMs = 50;

/** Starts a load balancer without backends. */
export async function startBalancer(): Promise<Balancer> {
  const backends = new Set<string>();
  let ready: readonly string[] = [];
  let turn = 0;
  const server = createServer((request, response) => {
    turn += 1;
    const backend = ready[turn % ready.length];
    if (backend === undefined) response.writeHead(503).end('no backend is ready');
    else forward(backend, request, response);
  }).listen(0, '127.0.0.1');
  // a connection that is closed while its client sends the next request would fail that request
  server.keepAliveTimeout = 0;
  await once(server, 'listening');
  const closing = new AbortController();
  const checking = (async () => {
    while (!closing.signal.aborted) {
      const states = await Promise.all([...backends].map(async (url) => [url, await isReady(url)] as const));
      ready = states.filter(([, isIn]) => isIn).map(([url]) => url);
      await sleep(checkMs);
    }
  })();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (backend) => void backends.add(backend),
    async untilReady(...wanted) {
      while (ready.toSorted().join() !== wanted.toSorted().join()) await sleep(checkMs);
    },
    async close() {
      closing.abort();
      await checking;
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`, { signal: AbortSignal.timeout(30_000) }).then(
    ({ status }) => status === 200,
    () => false,
  );

/** Forwards a request over a new connection and returns the response. */
function forward(backend: string, request: IncomingMessage, response: ServerResponse): void {
  const { method = 'GET', headers } = request;
  const upstream = httpRequest(backend + request.url, { method, headers, agent: false }, (upstreamResponse) => {
    response.writeHead(upstreamResponse.statusCode ?? 502, upstreamResponse.headers);
    upstreamResponse.pipe(response);
    upstreamResponse.on('error', () => response.destroy());
  });
  upstream.on('error', ({ message }) => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end(`${backend}: ${message}`);
  });
  request.pipe(upstream);
}
