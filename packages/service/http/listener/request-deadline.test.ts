import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { Writable } from 'node:stream';
import fastify, { type FastifyBaseLogger, type FastifyReply } from 'fastify';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { StorageError } from '../../storage/error.ts';
import { limitBody } from './read-body.ts';
import { createRequestDeadlines } from './request-deadline.ts';
import { sendError } from './send-error.ts';

/** Warnings and errors that were logged. */
const logged: Record<string, unknown>[] = [];
const sink = new Writable({
  write(chunk, _encoding, done) {
    logged.push(JSON.parse(String(chunk)));
    done();
  },
});

/** A server whose requests get their response by a limit; `handle` continues after it was sent. */
async function startServer(
  handle: (reply: FastifyReply) => unknown,
  { requestMs = 1, bodyMs = 60_000, sendsFirst = false } = {},
) {
  const loggerInstance: FastifyBaseLogger = pino({ level: 'warn' }, sink);
  const app = fastify({ loggerInstance });
  app.setErrorHandler(sendError);
  const startDeadline = createRequestDeadlines(app, requestMs);
  app.addHook('onRequest', (request, reply, done) => {
    startDeadline(request, reply);
    limitBody(request, reply, bodyMs, () => false);
    done();
  });
  // a hook that lets the handler continue while the response is being sent
  app.addHook('onSend', async () => undefined);
  const ended = Promise.withResolvers<void>();
  app.post('/', async (_request, reply) => {
    if (sendsFirst) reply.send('in time');
    await once(reply.raw, 'finish');
    try {
      return await handle(reply);
    } finally {
      setImmediate(ended.resolve);
    }
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  close = () => app.close();
  return { port: (app.server.address() as AddressInfo).port, ended: ended.promise };
}
let close = async (): Promise<void> => undefined;
afterEach(async () => {
  await close();
  logged.length = 0;
});

const fail = (error: Error) => async () => {
  throw error;
};
const lateOutcomes: readonly (readonly [outcome: string, handle: (reply: FastifyReply) => unknown])[] = [
  ['fails as its store is too late', fail(new StorageError('UNAVAILABLE', 'Cannot read in time'))],
  ['fails as its client is refused', fail(Object.assign(new Error('refused'), { statusCode: 400 }))],
  ['sends its response', async (reply) => reply.code(200).send('late')],
  ['returns its response', async () => 'late'],
];
test.each(lateOutcomes)('a handler that %s after the deadline logs nothing further', async (_outcome, handle) => {
  const { port, ended } = await startServer(handle);
  expect((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST' })).status).toBe(503);
  await ended;
  expect(logged.map(({ msg }) => msg)).toEqual(['request failed']);
});

test('a fault that a handler finds after the deadline is logged once', async () => {
  const { port, ended } = await startServer(fail(new TypeError('a fault')));
  expect((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST' })).status).toBe(503);
  await ended;
  expect(logged).toMatchObject([
    { msg: 'request failed', code: 'UNAVAILABLE' },
    { msg: 'request failed', code: 'INTERNAL_ERROR', err: { message: 'a fault' } },
  ]);
});

test('a store that fails after a response in time is logged once', async () => {
  const handle = fail(new StorageError('UNAVAILABLE', 'Cannot read'));
  const { port, ended } = await startServer(handle, { requestMs: 60_000, sendsFirst: true });
  expect((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST' })).status).toBe(200);
  await ended;
  expect(logged).toMatchObject([{ msg: 'request failed', code: 'UNAVAILABLE', err: { message: 'Cannot read' } }]);
});

test('a body that ends or breaks off after its time limit logs nothing', async () => {
  const { port } = await startServer(() => 'never', { requestMs: 60_000, bodyMs: 20 });
  for (const end of ['more', undefined]) {
    const socket = connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\na');
    const [response] = (await once(socket, 'data')) as [Buffer];
    expect(String(response)).toMatch(/^HTTP\/1\.1 408 /);
    if (end === undefined) socket.destroy();
    else socket.write(end);
    await once(socket.resume(), 'close');
  }
  await close();
  expect(logged).toEqual([]);
});
