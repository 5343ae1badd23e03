import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor, RateLimitOptions } from '@fastify/rate-limit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../../auth/address-network.ts';
import type { WindowCount } from '../../auth/window-counter.ts';
import { RequestError } from './error.ts';

/** Counts requests by key, in this process or in the one that counts for all workers. */
export interface RequestCounter {
  /** Adds one. */
  add(key: string): WindowCount | Promise<WindowCount>;
}

/** Length of a window. */
export const windowSeconds = 60;

/**
 * Returns the options of `@fastify/rate-limit`: this many requests per minute and client, and as
 * many OAuth requests, counted by `requests`. It must run after the client is authenticated.
 */
export function rateLimitOptions(perMinute: number, requests: RequestCounter): RateLimitOptions {
  return {
    max: perMinute,
    timeWindow: windowSeconds * 1000,
    store: storeOf(requests),
    keyGenerator: keyOf,
    errorResponseBuilder: (_request, { max, ttl }) =>
      new RequestError(
        'TOO_MANY_REQUESTS',
        `Cannot respond now: a client must send at most ${max} requests per minute; wait for Retry-After seconds`,
        { headers: { 'retry-after': String(Math.ceil(ttl / 1000)) } },
      ),
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

/** The library requires a class with callbacks. */
function storeOf(requests: RequestCounter): FastifyRateLimitStoreCtor {
  return class CountedRequests implements FastifyRateLimitStore {
    incr(key: string, callback: (error: Error | null, result?: { current: number; ttl: number }) => void): void {
      const counted = Promise.resolve(requests.add(key));
      counted.then(({ count, msLeft }) => callback(null, { current: count, ttl: msLeft }), callback);
    }
    child(): FastifyRateLimitStore {
      return this;
    }
  };
}

/**
 * Adds the two other spellings of the library's headers that clients look for: `RateLimit` and
 * `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) and `x-rate-limit-*`.
 */
export async function addRateLimitHeaders(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    reply.getHeader(`x-ratelimit-${name}`),
  );
  if (limit === undefined) return;
  reply.headers({
    'ratelimit-policy': `"client";q=${limit};w=${windowSeconds}`,
    ratelimit: `"client";r=${remaining};t=${reset}`,
    'x-rate-limit-limit': String(limit),
    'x-rate-limit-remaining': String(remaining),
    'x-rate-limit-reset': String(reset),
  });
}
