import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { readUntilClose } from '../../../../test/support/read-until-close.ts';
import { discardBody, readBody } from './read-body.ts';

let server: Server;
/** Handles the next request; the response is what it returns. */
let handle: (incoming: IncomingMessage) => Promise<string>;

beforeAll(async () => {
  server = createServer(async (incoming, response) => {
    const text = await handle(incoming).catch((error: Error & { code?: string }) => `${error.code} ${error.message}`);
    response.end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const send = () => {
  const { port } = server.address() as AddressInfo;
  const sending = request({ port, host: '127.0.0.1', method: 'PUT' });
  sending.on('error', () => undefined);
  return sending;
};
async function answerOf(sending: ReturnType<typeof send>): Promise<string> {
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  return Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString();
}

const patient = { stallMs: 5_000, rateMin: 0 };

test('a body is read as it arrives', async () => {
  handle = async (incoming) => Buffer.concat(await Array.fromAsync(readBody(incoming, patient))).toString();
  const sending = send();
  sending.write('one ');
  sending.end('two');
  expect(await answerOf(sending)).toBe('one two');
});

test('reading a body fails when nothing arrives for too long, without waiting for the rest', async () => {
  handle = async (incoming) =>
    Buffer.concat(await Array.fromAsync(readBody(incoming, { stallMs: 60, rateMin: 0 }))).toString();
  const sending = send();
  sending.write('one');
  expect(await answerOf(sending)).toMatch(/^REQUEST_TIMEOUT .*must arrive within 0.06 s$/);
  sending.destroy();
});

test('reading a body fails when its bytes arrive too slowly on average, although none is late', async () => {
  handle = async (incoming) => {
    const pace = { stallMs: 100, rateMin: 1_000 };
    return Buffer.concat(await Array.fromAsync(readBody(incoming, pace))).toString();
  };
  const sending = send();
  sending.write('x'.repeat(1_000_000)); // what came at once before does not count
  const dripping = setInterval(() => sending.write('x'), 20);
  expect(await answerOf(sending)).toMatch(/^REQUEST_TIMEOUT .*must arrive at 1000 per second on average$/);
  clearInterval(dripping);
  sending.destroy();
});

test('the pace of a body is not asked before the service has waited for it as long as it may stall', async () => {
  const pace = { stallMs: 60_000, rateMin: 1_000_000_000 };
  handle = async (incoming) => Buffer.concat(await Array.fromAsync(readBody(incoming, pace))).toString();
  const sending = send();
  sending.write('one ');
  setTimeout(() => sending.end('two'), 30);
  expect(await answerOf(sending)).toBe('one two');
});

test('the time that the service takes for what it has read does not count as that of the client', async () => {
  const now = performance.now.bind(performance);
  let passedMs = 0;
  onTestFinished(vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs).mockRestore);
  handle = async (incoming) => {
    let text = '';
    for await (const chunk of readBody(incoming, { stallMs: 10_000, rateMin: 1 })) {
      text += chunk;
      passedMs += 60_000;
      if (text === 'one') sending.end('two');
    }
    return text;
  };
  const sending = send();
  sending.write('one');
  expect(await answerOf(sending)).toBe('onetwo');
});

test('a body whose first bytes are few is not refused before the wait was long in total', async () => {
  handle = async (incoming) => {
    const pace = { stallMs: 5_000, rateMin: 10 ** 12 };
    return Buffer.concat(await Array.fromAsync(readBody(incoming, pace))).toString();
  };
  const sending = send();
  sending.write('o');
  sending.end('ne');
  expect(await answerOf(sending)).toBe('one');
});

test('reading a body fails when the client disconnects', async () => {
  const failed = Promise.withResolvers<string>();
  handle = async (incoming) => {
    await Array.fromAsync(readBody(incoming, patient)).catch(({ code }) => failed.resolve(code));
    return '';
  };
  const sending = send();
  sending.write('one');
  setTimeout(() => sending.destroy(), 50);
  expect(await failed.promise).toBe('INVALID_HTTP_MESSAGE');
});

test.each([
  ['is abandoned', async (chunks: AsyncIterator<Buffer>) => void (await chunks.next())],
  [
    'waits for more',
    async (chunks: AsyncIterator<Buffer>) => {
      await chunks.next();
      void chunks.next().catch(() => undefined);
    },
  ],
])('the rest of a body is discarded although its reader %s', async (_title, readSome) => {
  handle = async (incoming) => {
    await readSome(readBody(incoming, patient));
    discardBody(incoming, 60_000);
    return 'refused';
  };
  const whole = send();
  whole.end(Buffer.alloc(20_000_000));
  const answered = answerOf(whole);
  await once(whole, 'finish');
  expect(await answered).toBe('refused');
});

test('a body that is discarded is received for a while, then the connection is closed', async () => {
  let discardMs = 60_000;
  handle = async (incoming) => {
    for await (const _ of readBody(incoming, patient)) break;
    discardBody(incoming, discardMs);
    return 'refused';
  };
  const whole = send();
  whole.end(Buffer.alloc(20_000_000));
  const answered = answerOf(whole);
  await once(whole, 'finish');
  expect(await answered).toBe('refused');
  discardMs = 200;
  const { port } = server.address() as AddressInfo;
  const endless = connect(port, '127.0.0.1');
  endless.on('error', () => undefined);
  endless.write(`PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n${'x'.repeat(1_000)}`);
  const dripping = setInterval(() => endless.write('x'), 20);
  const received = await readUntilClose(endless);
  clearInterval(dripping);
  expect(received).toContain('refused');
});
