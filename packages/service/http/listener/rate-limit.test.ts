import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Access } from '../../auth/verify/resource-server.ts';
import { createWindowCounter } from '../../auth/window-counter.ts';
import { costlyPerMinute, createRateLimiter, type RateLimiter } from './rate-limit.ts';
import { sendError } from './send-error.ts';

describe('a limit of 5 requests per minute', () => {
  let now: number;
  let refused: number;
  let limiter: RateLimiter;
  let app: FastifyInstance;
  const access = { clientId: 'a', tenant: 'acme' } as Access;

  let caller: Access | null;

  beforeEach(() => {
    [now, refused, caller] = [0, 0, access];
    const windows = createWindowCounter(60_000, () => now);
    limiter = createRateLimiter({
      perMinute: 5,
      requests: { add: (key) => windows.add(key) },
      onRefused: () => {
        refused += 1;
      },
    });
    app = fastify();
    app.decorateRequest('access', null);
    app.decorateRequest('audit', null);
    app.setErrorHandler(sendError);
    app.addHook('onRequest', async (request) => {
      request.access = caller;
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

  test('unknown callers share the quota of their network, and those of another network have their own', async () => {
    caller = null;
    const leftOf = async (remoteAddress: string) => (await app.inject({ url: '/', remoteAddress })).headers.ratelimit;
    expect(await leftOf('192.0.2.1')).toBe('"client";r=4;t=60');
    expect(await leftOf('192.0.2.1')).toBe('"client";r=3;t=60');
    expect(await leftOf('192.0.2.2')).toBe('"client";r=4;t=60');
    expect(await leftOf('2001:db8::1')).toBe('"client";r=4;t=60');
    expect(await leftOf('2001:db8::2')).toBe('"client";r=3;t=60');
    expect(await leftOf('2001:db8:0:1::1')).toBe('"client";r=4;t=60');
  });

  test('the sixth request of a client gets 429 with Retry-After', async () => {
    for (const remaining of [4, 3, 2, 1, 0])
      expect((await app.inject('/')).headers.ratelimit).toBe(`"client";r=${remaining};t=60`);
    now = 20_500;
    const { statusCode, headers } = await app.inject('/');
    expect([statusCode, headers['retry-after'], headers.ratelimit]).toEqual([429, '40', '"client";r=0;t=40']);
    expect(refused).toBe(1);
  });
});

test('a client may begin 120 loads per minute, however high its quota is, and another client is not affected', async () => {
  const windows = createWindowCounter(60_000, () => 0);
  const requests = { add: (key: string) => windows.add(key) };
  for (const perMinute of [0, 60_000]) {
    const limiter = createRateLimiter({ perMinute, requests });
    const load = (clientId: string) =>
      limiter.countCostly(
        { access: { clientId, tenant: 'acme' }, audit: null } as unknown as FastifyRequest,
        { headers: () => undefined } as unknown as FastifyReply,
        'loads',
      );
    for (let n = 1; n <= costlyPerMinute.loads; n += 1) await load(`feed-${perMinute}`);
    await expect(load(`feed-${perMinute}`)).rejects.toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      headers: { 'retry-after': '60' },
    });
    await load(`other-${perMinute}`);
  }
});
