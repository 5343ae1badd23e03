import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Access } from '../../auth/resource-server.ts';
import { createWindowCounter } from '../../auth/window-counter.ts';
import { createRateLimiter, type RateLimiter } from './rate-limit.ts';
import { sendError } from './send-error.ts';

describe('a limit of 5 requests per minute', () => {
  let now: number;
  let refused: number;
  let limiter: RateLimiter;
  let app: FastifyInstance;
  const access = { clientId: 'a', tenant: 'acme', expiresAt: 0 } as Access;

  beforeEach(() => {
    [now, refused] = [0, 0];
    const windows = createWindowCounter(60_000, () => now);
    limiter = createRateLimiter({
      perMinute: 5,
      requests: { tryAdd: (key) => windows.add(key), add: async (key) => windows.add(key) },
      onRefused: () => {
        refused += 1;
      },
    });
    app = fastify();
    app.decorateRequest('access', null);
    app.decorateRequest('audit', null);
    app.setErrorHandler(sendError);
    app.addHook('onRequest', async (request) => {
      request.access = access;
    });
    app.addHook('onRequest', limiter.count);
    app.get('/', async () => '');
  });
  afterEach(() => app.close());

  test('the time until the window closes decreases, and is equal in every rate-limit header', async () => {
    for (const [atMs, left, remaining] of [
      [0, 60, 4],
      [20_000, 40, 3],
      [59_500, 1, 2],
      [60_000, 60, 4],
    ] as const) {
      now = atMs;
      const { headers } = await app.inject('/');
      expect(headers).toMatchObject({
        ratelimit: `"client";r=${remaining};t=${left}`,
        'ratelimit-policy': '"client";q=5;w=60',
      });
    }
  });

  test('repeated and new requests share one count, and the sixth gets 429 with Retry-After', async () => {
    expect(limiter.countRepeated(access)).toEqual(['ratelimit', '"client";r=4;t=60']);
    for (const remaining of [3, 2, 1, 0])
      expect((await app.inject('/')).headers.ratelimit).toBe(`"client";r=${remaining};t=60`);
    now = 20_500;
    expect(limiter.countRepeated(access)).toBeUndefined();
    const { statusCode, headers } = await app.inject('/');
    expect([statusCode, headers['retry-after'], headers.ratelimit]).toEqual([429, '40', '"client";r=0;t=40']);
    expect(refused).toBe(1);
  });
});
