import { hash } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../../auth/resource-server.ts';
import { estimateBytes } from '../../storage/bounded-map.ts';
import { FreshMap } from '../../storage/fresh-map.ts';
import type { Store } from '../../storage/store.ts';
import { spanRecorder } from '../../tracing/span.ts';
import { logAccess, type ResponseObserver } from './access-log.ts';
import { correlationHeader, correlationIdOf } from './correlation.ts';
import { quotaHeaders, type RateLimiter } from './rate-limit.ts';
import { describeTrace, traceHeader, traceHeaderName } from './tracing.ts';

/** A response that can be sent again. */
export interface RepeatableResponse {
  readonly status: 200 | 304;
  /** The body, or `undefined` once it is no longer cached. */
  readonly body: () => Buffer | undefined;
  /** Bytes that `body` itself keeps in memory. */
  readonly heldBytes: number;
}

/** Cached responses to requests that are sent again byte for byte. */
export interface RepeatedRequests {
  /** Responds to a request from the cache; returns `false` if it must be handled as a new one. */
  readonly respond: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Caches the response that a request is about to get. */
  readonly keep: (request: FastifyRequest, reply: FastifyReply, response: RepeatableResponse) => void;
}

/** What repeated requests need. */
interface RepeatedRequestsOptions {
  readonly store: Pick<Store, 'changeMark'>;
  readonly logger: Pick<FastifyBaseLogger, 'info'>;
  /** UTC epoch seconds. */
  readonly now: () => number;
  /** Whether this process is shutting down, which its responses must say. */
  readonly isDraining: () => boolean;
  readonly limiter: Pick<RateLimiter, 'countRepeated'>;
  /** Measures each response. */
  readonly observe?: ResponseObserver | undefined;
}

interface CachedResponse extends RepeatableResponse {
  /** Name, value, name, value …, without the headers that differ between responses. */
  readonly headers: readonly string[];
  readonly route: string | null;
  readonly access: Access;
}

const arrivalMark = Symbol('change mark on arrival');

/** A request with the store's change mark when it arrived; a `WeakMap` takes a microsecond. */
interface ArrivedRequest extends IncomingMessage {
  [arrivalMark]?: number;
}

const bounds = { entriesMax: 2_000, bytesMax: 8_388_608 };
/** Longest request that is cached, in characters; most of it is its token. */
const requestLengthMax = 4_096;

/** The `Server-Timing` of a repeated response, which has no stages. */
const timing = ['server-timing', 'cache;desc="repeated"'] as const;

/** Headers that differ between responses. */
const ownHeaders = new Set([
  correlationHeader.toLowerCase(),
  traceHeaderName,
  'server-timing',
  'content-length',
  ...quotaHeaders,
]);

/**
 * Makes the cache of responses to requests that are sent again byte for byte, token included: while
 * the store is unchanged and the token is valid, parsing and authorizing them again would end in
 * the same response. The change mark is read for each request, after its last byte has arrived.
 * Requests hold a token, so the cache key is their SHA-256, computed only if a response is cached
 * or about to be.
 */
export function createRepeatedRequests({
  store,
  logger,
  now,
  isDraining,
  limiter,
  observe,
}: RepeatedRequestsOptions): RepeatedRequests {
  const cached = new FreshMap<CachedResponse>(store, {
    name: 'repeated_requests',
    ...bounds,
    bytesOf: ({ headers, heldBytes }) => estimateBytes(headers) + heldBytes,
  });
  const cacheKeyOf = (request: IncomingMessage, url = ''): string | undefined => {
    const identity = identityOf(request, url);
    return identity === undefined ? undefined : hash('sha256', identity, 'base64url');
  };

  return {
    respond(request: ArrivedRequest, response) {
      if (request.method !== 'GET' || isDraining()) return false;
      const started = performance.now();
      const changeMark = cached.refresh();
      if (changeMark === undefined) return false;
      const cacheKey = cached.size === 0 ? undefined : cacheKeyOf(request, request.url);
      const known = cacheKey === undefined ? undefined : cached.get(cacheKey);
      const body = known !== undefined && known.access.expiresAt > now() ? known.body() : undefined;
      if (known === undefined || body === undefined) {
        request[arrivalMark] = changeMark;
        return false;
      }
      const quota = limiter.countRepeated(known.access);
      if (quota === undefined) return false;
      const id = correlationIdOf(request);
      const own = known.status === 200 ? ['content-length', String(body.length), ...timing] : [];
      const trace = Object.entries(traceHeader(request) ?? {}).flat();
      response.writeHead(known.status, [...known.headers, ...own, ...quota, correlationHeader, id, ...trace]);
      response.end(body);
      const { route, status, access } = known;
      if (route !== null) spanRecorder()?.setRoute(request, route);
      const line = { method: 'GET', route, status, durationMs: performance.now() - started, access };
      observe?.(line);
      logAccess(logger, line, { correlation_id: id, ...describeTrace(request) });
      return true;
    },
    keep(request, reply, response) {
      const { access } = request;
      const raw: ArrivedRequest = request.raw;
      if (!cached.isAt(raw[arrivalMark]) || access === null) return;
      const cacheKey = cacheKeyOf(raw, request.originalUrl);
      if (cacheKey === undefined) return;
      const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
        value === undefined || ownHeaders.has(name) ? [] : [name, String(value)],
      );
      const route = request.routeOptions.url ?? null;
      cached.set(cacheKey, { ...response, headers, route, access }, (access.expiresAt - now()) * 1000);
    },
  };
}

/** Lets `repeated` respond to the requests of a server before its own listener handles them. */
export function installRepeatedRequests(server: Server, repeated: RepeatedRequests): void {
  const [handle] = server.listeners('request') as RequestListener[];
  if (handle === undefined) throw new TypeError('Cannot repeat responses: the server must have a request listener');
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (!repeated.respond(request, response)) handle(request, response);
  });
}

/**
 * Returns what identifies a request: everything except its correlation id and its trace, which do
 * not affect the response. `undefined` for a request that is too long, has a body, or expects more
 * than a response.
 */
function identityOf({ httpVersion, rawHeaders }: IncomingMessage, url: string): string | undefined {
  let identity = `${httpVersion} ${url}`;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (specialLengths.has(name.length)) {
      const lowerCase = name.toLowerCase();
      if (ignoredHeaders.has(lowerCase)) continue;
      if (bodyHeaders.has(lowerCase)) return undefined;
    }
    identity += `\n${name}:${rawHeaders[index + 1]}`;
  }
  return identity.length > requestLengthMax ? undefined : identity;
}

/** Request headers that name a request, and do not affect its response. */
const ignoredHeaders = new Set([correlationHeader.toLowerCase(), 'traceparent', 'tracestate']);

/** Request headers that announce a body, or expect more than a response. */
const bodyHeaders = new Set(['content-length', 'transfer-encoding', 'expect', 'upgrade']);

/** Only names of these lengths are converted to lower case. */
const specialLengths = new Set([...ignoredHeaders, ...bodyHeaders].map(({ length }) => length));
