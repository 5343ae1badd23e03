import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../auth/resource-server.ts';
import { logAccess } from './access-log.ts';
import { correlationHeader, correlationIdOf } from './correlation.ts';

/** An answer to give again. */
export interface RepeatableAnswer {
  readonly status: 200 | 304;
  /** The bytes, for as long as they are kept; `undefined` once they are not. */
  readonly body: () => Buffer | undefined;
}

/** Requests that are sent again as they were, and their answers. */
export interface RepeatedRequests {
  /** Answers a request that was answered before, when nothing can have changed since; `false` leaves it to be answered anew. */
  readonly answer: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Keeps the answer that a request is about to get, for its repetition. */
  readonly keep: (request: FastifyRequest, reply: FastifyReply, answer: RepeatableAnswer) => void;
}

/** What repeated requests are judged by. */
export interface RepeatedRequestsOptions {
  /** A number that differs once anything may have changed that an answer depends on; `undefined` when that cannot be known. */
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

const requestsMax = 2_000;
/** Longest text of a request that is kept, in characters; its token is the most of it. */
const textLengthMax = 4_096;

/** The stages of a repeated answer: there were none. */
const timing = ['server-timing', 'cache;desc="repeated"'] as const;

/** Headers that each answer has of its own. */
const ownHeaders = new Set([correlationHeader.toLowerCase(), 'server-timing', 'content-length']);

/** A request as it arrived, and the store's mark then. */
interface Arrival {
  readonly text: string;
  readonly mark: number;
}

/**
 * Makes the memory of requests that are sent again byte for byte, token and all: reading, checking and looking everything up again would end in the same answer
 * for as long as the store's mark stays (`changeMark`) and the token lives. The mark is read once for all requests that one turn of the event loop has
 * received: they had all been sent before it was read.
 */
export function createRepeatedRequests({
  changeMark,
  logger,
  now,
  isDraining,
}: RepeatedRequestsOptions): RepeatedRequests {
  const kept = new Map<string, Kept>();
  let keptMark: number | undefined;
  const arrivals = new WeakMap<IncomingMessage, Arrival>();
  let isMarkOfTurn = false;
  let turnMark: number | undefined;
  const endTurn = (): void => {
    isMarkOfTurn = false;
  };
  const readMark = (): number | undefined => {
    if (!isMarkOfTurn) {
      turnMark = changeMark();
      isMarkOfTurn = true;
      setImmediate(endTurn);
    }
    return turnMark;
  };

  return {
    answer(request, response) {
      if (request.method !== 'GET' || isDraining()) return false;
      const started = performance.now();
      const mark = readMark();
      if (mark === undefined || mark !== keptMark) kept.clear();
      keptMark = mark;
      if (mark === undefined) return false;
      const text = textOf(request);
      if (text === undefined) return false;
      const known = kept.get(text);
      const body = known !== undefined && known.access.expiresAt > now() ? known.body() : undefined;
      if (known === undefined || body === undefined) {
        arrivals.set(request, { text, mark });
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
      if (kept.size >= requestsMax) kept.delete(kept.keys().next().value ?? '');
      kept.set(arrival.text, { ...answer, headers, route: request.routeOptions.url ?? null, access });
    },
  };
}

/**
 * A request as it arrived, without the correlation id, which decides nothing; `undefined` for one that is too long, or that has a body or asks for more than an
 * answer.
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
