import type { FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../../auth/network.ts';
import type { WindowCount } from '../../auth/window-counter.ts';
import { RequestError } from './error.ts';

/** Counts requests by key, in this process or in the one that counts for all workers. */
export interface RequestCounter {
  /** Adds one. Counts above `limit` are refused. */
  add(key: string, limit: number): WindowCount | Promise<WindowCount>;
}

/** Length of a window. */
export const windowSeconds = 60;

/**
 * Maximum requests that a client, or a network without a client, may begin per minute, whatever its
 * quota is.
 */
export const costlyPerMinute = {
  /** Each adds two entries to the audit log and one to the history of imports, kept for months. */
  loads: 120,
  /** Each is a request to the identity provider, and anyone can make one up. */
  'sign-ins': 30,
};

type CostlyWork = keyof typeof costlyPerMinute;

interface RateLimiterOptions {
  /** Requests per minute of a client without its own limit; 0 means no limit. */
  readonly perMinute: number;
  readonly requests: RequestCounter;
  /** Called for each rejected request. */
  readonly onRefused?: (() => void) | undefined;
}

/** Limits the requests per minute of each client. */
export interface RateLimiter {
  /**
   * Counts a request and adds the headers of its quota (draft-ietf-httpapi-ratelimit-headers-11).
   * Throws `RequestError` if the quota is used up. It must run after the client is authenticated; a
   * request without a known client counts for its network.
   */
  readonly count: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** Counts a request that begins costly work, also towards the limit of this work per minute. */
  readonly countCostly: (request: FastifyRequest, reply: FastifyReply, work: CostlyWork) => Promise<void>;
}

export function createRateLimiter({ perMinute, requests, onRefused }: RateLimiterOptions): RateLimiter {
  const count: RateLimiter['count'] = async (request, reply) => {
    const limit = request.access?.rateLimit ?? perMinute;
    if (limit === 0) return;
    const counted = await requests.add(keyOf(request), limit);
    reply.headers({
      'ratelimit-policy': `"client";q=${limit};w=${windowSeconds}`,
      ratelimit: quotaOf(counted, limit),
    });
    if (counted.count <= limit) return;
    onRefused?.();
    throw tooMany(`send at most ${limit} requests`, counted);
  };
  return {
    count,
    async countCostly(request, reply, work) {
      await count(request, reply);
      const limit = costlyPerMinute[work];
      const counted = await requests.add(`${work} ${keyOf(request)}`, limit);
      if (counted.count <= limit) return;
      onRefused?.();
      throw tooMany(`begin at most ${limit} ${work}`, counted);
    },
  };
}

/**
 * OAuth requests have their own count. A request without a known client counts for its network.
 * Client ids have no spaces.
 */
function keyOf({ access, audit, ip }: FastifyRequest): string {
  const caller = access?.clientId ?? `network ${networkOf(ip)}`;
  return audit === null ? caller : `oauth ${caller}`;
}

/** The value of `RateLimit`. */
const quotaOf = ({ count, msLeft }: WindowCount, limit: number): string =>
  `"client";r=${Math.max(0, limit - count)};t=${Math.ceil(msLeft / 1000)}`;

const tooMany = (rule: string, { msLeft }: WindowCount): RequestError =>
  new RequestError(
    'TOO_MANY_REQUESTS',
    `Cannot respond now: a client must ${rule} per minute; wait for Retry-After seconds`,
    { headers: { 'retry-after': String(Math.ceil(msLeft / 1000)) } },
  );
