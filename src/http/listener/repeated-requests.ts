import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../../auth/resource-server.ts';
import { BoundedMap } from '../../storage/bounded-map.ts';
import { estimateBytes } from '../../storage/estimate-bytes.ts';
import { logAccess } from './access-log.ts';
import { correlationHeader, correlationIdOf } from './correlation.ts';

/** An answer to give again. */
export interface RepeatableAnswer {
  readonly status: 200 | 304;
  /** The bytes, for as long as they are kept; `undefined` once they are not. */
  readonly body: () => Buffer | undefined;
  /** Bytes that `body` keeps in memory by itself. */
  readonly heldBytes: number;
}

/** Requests that are sent again as they were, and their answers. */
export interface RepeatedRequests {
  /**
   * Answers a request that was answered before, when nothing can have changed since; `false` leaves
   * it to be answered anew.
   */
  readonly answer: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Keeps the answer that a request is about to get, for its repetition. */
  readonly keep: (request: FastifyRequest, reply: FastifyReply, answer: RepeatableAnswer) => void;
}

/** What repeated requests are judged by. */
interface RepeatedRequestsOptions {
  /**
   * A number that differs once anything may have changed that an answer depends on; `undefined`
   * when that cannot be known.
   */
  readonly changeMark: () => number | undefined;
  readonly logger: Pick<FastifyBaseLogger, 'info'>;
  /** UTC epoch seconds. */
  readonly now: () => number;
  /** Whether this process is on its way out, and says so in its answers. */
  readonly isDraining: () => boolean;
}

interface Kept extends RepeatableAnswer {
  /** Name, value, name, value …, but for what each answer has of its own. */
  readonly headers: readonly string[];
  readonly route: string | null;
  readonly access: Access;
}

const bounds = { entriesMax: 2_000, bytesMax: 8_388_608 };
/** Longest text of a request that is kept, in characters; its token is the most of it. */
const textLengthMax = 4_096;

/** The stages of a repeated answer: there were none. */
const timing = ['server-timing', 'cache;desc="repeated"'] as const;

/** Headers that each answer has of its own. */
const ownHeaders = new Set([correlationHeader.toLowerCase(), 'server-timing', 'content-length']);

/** A request as it arrived, and the store's mark then. */
interface Arrival {
  readonly cacheKey: string;
  readonly mark: number;
}

/**
 * Makes the memory of requests that are sent again byte for byte, token and all: reading, checking
 * and looking everything up again would end in the same answer for as long as the store's mark
 * stays (`changeMark`) and the token lives. The mark is read for each request, after the last of
 * its bytes has arrived. Requests are kept by their SHA-256, never in the clear, as they hold a
 * token, and no longer than the token lives.
 */
export function createRepeatedRequests({
  changeMark,
  logger,
  now,
  isDraining,
}: RepeatedRequestsOptions): RepeatedRequests {
  const kept = new BoundedMap<Kept>({
    ...bounds,
    bytesOf: ({ headers, heldBytes }) => estimateBytes(headers) + heldBytes,
  });
  let keptMark: number | undefined;
  const arrivals = new WeakMap<IncomingMessage, Arrival>();

  return {
    answer(request, response) {
      if (request.method !== 'GET' || isDraining()) return false;
      const started = performance.now();
      const mark = changeMark();
      if (mark === undefined || mark !== keptMark) kept.clear();
      keptMark = mark;
      if (mark === undefined) return false;
      const text = textOf(request);
      if (text === undefined) return false;
      const cacheKey = hash('sha256', text, 'base64url');
      const known = kept.get(cacheKey);
      const body = known !== undefined && known.access.expiresAt > now() ? known.body() : undefined;
      if (known === undefined || body === undefined) {
        arrivals.set(request, { cacheKey, mark });
        return false;
      }
      const id = correlationIdOf(request);
      const own = known.status === 200 ? ['content-length', String(body.length), ...timing] : [];
      response.writeHead(known.status, [...known.headers, ...own, correlationHeader, id]);
      response.end(body);
      const { route, status, access } = known;
      const line = { method: 'GET', route, status, durationMs: performance.now() - started, access };
      logAccess(logger, line, { correlation_id: id });
      return true;
    },
    keep(request, reply, answer) {
      const arrival = arrivals.get(request.raw);
      const { access } = request;
      if (arrival === undefined || arrival.mark !== keptMark || access === null) return;
      const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
        value === undefined || ownHeaders.has(name) ? [] : [name, String(value)],
      );
      const route = request.routeOptions.url ?? null;
      kept.set(arrival.cacheKey, { ...answer, headers, route, access }, (access.expiresAt - now()) * 1000);
    },
  };
}

/**
 * A request as it arrived, without the correlation id, which decides nothing; `undefined` for one
 * that is too long, or that has a body or asks for more than an answer.
 */
function textOf({ url = '', httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  let text = `${httpVersion} ${url}`;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (lengthsOfSpecial.has(name.length)) {
      const known = name.toLowerCase();
      if (known === correlationName) continue;
      if (bodyHeaders.has(known)) return undefined;
    }
    text += `\n${name}:${rawHeaders[index + 1]}`;
  }
  return text.length > textLengthMax ? undefined : text;
}

const correlationName = correlationHeader.toLowerCase();

/** Headers of a request that say that a body follows, or that more than an answer is wanted. */
const bodyHeaders = new Set(['content-length', 'transfer-encoding', 'expect', 'upgrade']);

/** Lower-case names are made for few headers only. */
const lengthsOfSpecial = new Set([correlationName, ...bodyHeaders].map(({ length }) => length));
