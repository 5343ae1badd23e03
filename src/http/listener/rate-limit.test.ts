import rateLimit from '@fastify/rate-limit';
import fastify from 'fastify';
import { expect, test } from 'vitest';
import { createWindowCounter } from '../../auth/window-counter.ts';
import { addRateLimitHeaders, rateLimitOptions } from './rate-limit.ts';

test('the time until the window closes decreases, and is equal in every rate-limit header', async () => {
  let now = 0;
  const app = fastify();
  app.decorateRequest('access', null);
  app.decorateRequest('audit', null);
  await app.register(rateLimit, {
    global: true,
    ...rateLimitOptions(
      5,
      createWindowCounter(60_000, () => now),
    ),
  });
  app.addHook('onSend', addRateLimitHeaders);
  app.get('/', async () => '');
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
      'x-rate-limit-reset': String(left),
      'x-ratelimit-reset': String(left),
    });
  }
  await app.close();
});
