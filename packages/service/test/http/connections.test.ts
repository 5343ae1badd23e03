import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { consoleIsBuilt } from '../../http/console/pages.ts';

let service: TestService;
const sockets: Socket[] = [];
const start = async (environment: Record<string, string>, connectionsPerAddressMax = 2_000): Promise<void> => {
  service = await startService(await engines[0].openTestStore(), environment, { connectionsPerAddressMax });
};
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await service.close();
});

/** Opens a connection and sends one request over it. */
async function openConnection(): Promise<{ socket: Socket; head: string }> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [head] = (await once(socket, 'data')) as [Buffer];
  return { socket, head: head.toString() };
}

test('an address with too many open connections gets 429 for the next one, until it closes one', async () => {
  await start({}, 3);
  const [first] = [await openConnection(), await openConnection(), await openConnection()];
  const refused = connect(Number(new URL(service.url).port), '127.0.0.1');
  const answer = await text(refused);
  expect(answer).toMatch(/^HTTP\/1\.1 429 /);
  expect(answer).toContain('too many open ones');
  expect(answer.toLowerCase()).toContain('retry-after: ');
  expect(service.log).toContainEqual(expect.objectContaining({ msg: 'connection refused', address: '127.0.0.1' }));
  first.socket.destroy();
  await eventually(async () => expect((await fetch(`${service.url}/healthz`)).status).toBe(200));
});

test('a trusted proxy may open any number of connections, and idle ones stay open longer than the proxy keeps them', async () => {
  await start({ TRUSTED_PROXIES: '127.0.0.0/8' }, 3);
  const opened = await Promise.all(Array.from({ length: 8 }, openConnection));
  expect(opened.map(({ head }) => head.split(' ', 2)[1])).toEqual(opened.map(() => '200'));
  expect(opened[0]?.head).toContain('Keep-Alive: timeout=72');
});

test('an idle connection of a client is closed after 15 seconds', async () => {
  await start({});
  expect((await openConnection()).head).toContain('Keep-Alive: timeout=15');
});

test.runIf(consoleIsBuilt()).each([
  ['true', 200],
  ['false', 404],
])('CONSOLE=%s: the console is %i (6.3.3)', async (setting, status) => {
  await start({ CONSOLE: setting });
  expect((await fetch(`${service.url}/console`)).status).toBe(status);
});
