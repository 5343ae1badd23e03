import fastify, { type FastifyInstance } from 'fastify';
import { expect, test } from 'vitest';
import type { TenantId } from '../../storage/store.ts';
import type { RepeatableResponse } from '../listener/repeated-requests.ts';
import { createCachedSender } from './send-cached.ts';

/** A service whose requests all belong to one tenant. */
function serviceOf(tenant: string): FastifyInstance {
  const app = fastify();
  app.decorateRequest('access', null);
  app.addHook('onRequest', async (request) => {
    request.access = { clientId: 'client', tenant: tenant as TenantId, rateLimit: null, expiresAt: 0 };
  });
  return app;
}

test('a repeatable response returns its body while it is cached, in each coding and for its revision only', async () => {
  let revision = 1;
  const kept: RepeatableResponse[] = [];
  const repeated = {
    respond: () => false,
    keep: (_request: object, _reply: object, answer: RepeatableResponse) => void kept.push(answer),
  };
  const sendCached = createCachedSender(100_000, async () => revision, repeated);
  const app = serviceOf('acme');
  app.get<{ Querystring: { page: string } }>('/', (request, reply) =>
    sendCached(request, reply, {
      key: request.query.page,
      load: async () => ({ body: `${revision} ${'x'.repeat(5_000)}`, headers: {}, revision }),
    }),
  );
  const ask = (page: string, headers = {}) => app.inject({ url: `/?page=${page}`, headers });
  await ask('a');
  expect(kept).toHaveLength(0); // a response that was requested once may never be requested again
  const { rawPayload } = await ask('a');
  const coded = await ask('a', { 'accept-encoding': 'gzip' });
  const [plain, gzip] = kept;
  expect([plain?.status, plain?.body()]).toEqual([200, rawPayload]);
  expect(gzip?.body()).toEqual(coded.rawPayload);
  revision = 2;
  await ask('a');
  expect(plain?.body()).toBeUndefined();
  await ask('a');
  const renewed = kept.at(-1);
  expect(renewed?.body()?.subarray(0, 2).toString()).toBe('2 ');
  for (let page = 0; page < 40; page += 1) await ask(`b${page}`);
  expect(renewed?.body()).toBeUndefined();
  await app.close();
});

test('a repeatable 304 has no body, and a response that depends on the current time is not repeatable', async () => {
  const kept: RepeatableResponse[] = [];
  const repeated = {
    respond: () => false,
    keep: (_request: object, _reply: object, answer: RepeatableResponse) => void kept.push(answer),
  };
  const sendCached = createCachedSender(100_000, async () => 1, repeated);
  const app = serviceOf('acme');
  app.get<{ Querystring: { moment?: string } }>('/', (request, reply) =>
    sendCached(request, reply, {
      key: String(request.query.moment),
      dependsOnNow: request.query.moment !== undefined,
      load: async () => ({ body: 'answer', headers: {}, revision: 1 }),
    }),
  );
  for (const url of ['/', '/?moment=7d']) {
    const { headers } = await app.inject(url);
    const again = await app.inject({ url, headers: { 'if-none-match': String(headers.etag) } });
    expect(again.statusCode).toBe(304);
    await app.inject(url);
  }
  expect(kept.map(({ status, body }) => [status, body()?.length])).toEqual([
    [304, 0],
    [200, 6],
  ]);
  await app.close();
});
