import type { RateLimitOptions } from '@fastify/rate-limit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from './error.ts';

const windowSeconds = 60;

/** Options of `@fastify/rate-limit` for so many requests a minute and client; to run after the client is known. */
export function rateLimitOptions(perMinute: number): RateLimitOptions {
  return {
    max: perMinute,
    timeWindow: windowSeconds * 1000,
    keyGenerator: (request) => request.access?.clientId ?? request.ip,
    errorResponseBuilder: (_request, { max }) =>
      new RequestError(
        'TOO_MANY_REQUESTS',
        `Cannot answer now: a client must send at most ${max} requests a minute; wait as long as Retry-After says`,
      ),
  };
}

/**
 * Adds to the counters of the library the two other spellings that clients look for: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers)
 * and `x-rate-limit-*`.
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
