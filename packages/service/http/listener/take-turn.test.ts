import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { expect, test } from 'vitest';
import { RequestError } from './error.ts';
import { addTurns, FairQueue, takeTurn } from './fair-queue.ts';
import { createRequestDeadlines } from './request-deadline.ts';

test.each(['waits', 'is authorized'])('a client that disconnects while its request %s takes no turn', async (when) => {
  const queue = new FairQueue({ runningMax: 1, waitingMax: 10, waitMsMax: 60_000, startsPerTurn: 1 });
  const enter = (tenant: string) => queue.enter(tenant, new AbortController().signal);
  const leave = when === 'waits' ? await enter('other') : undefined;
  const [arrived, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
  const app = fastify();
  addTurns(app);
  const startDeadline = createRequestDeadlines(app, 60_000);
  app.addHook('onRequest', async (incoming, reply) => startDeadline(incoming, reply));
  app.get('/', async (incoming, reply) => {
    arrived.resolve();
    if (when === 'is authorized') await once(reply.raw, 'close');
    await takeTurn(queue, 'acme', incoming, reply).then(ended.resolve, ended.resolve);
    reply.hijack();
  });
  await app.listen({ port: 0 });
  try {
    const client = request({ port: (app.server.address() as AddressInfo).port }).on('error', () => undefined);
    client.end();
    await arrived.promise;
    if (when === 'waits') await expect.poll(() => queue.waiting).toBe(1);
    client.destroy();
    // no fault of this service, which would be logged
    expect(await ended.promise).toBeInstanceOf(RequestError);
    leave?.();
    expect(queue.waiting).toBe(0);
    expect(await enter('next')).toBeTypeOf('function');
  } finally {
    await app.close();
  }
});
