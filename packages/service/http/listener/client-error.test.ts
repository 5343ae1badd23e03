import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createClientErrorHandler } from './client-error.ts';

const info = vi.fn();
let server: Server;

/** Begins each response, and never ends it. */
beforeEach(async () => {
  info.mockClear();
  server = createServer((_request, response) => response.write('the first part'));
  server.on('clientError', createClientErrorHandler({ info }, {}));
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => server.close());

const open = () => connect((server.address() as AddressInfo).port, '127.0.0.1');
const request = (version: string) => `GET / HTTP/${version}\r\nHost: localhost\r\n\r\n`;

test.each([
  ['no request', 'junk\r\n\r\n'],
  ['a header that cannot be read', request('1.1').replace('Host', 'Ho st')],
])('%s after a request whose response has begun cuts that response', async (_title, junk) => {
  for (const version of ['1.0', '1.1']) {
    const socket = open();
    socket.write(request(version).replace('\r\n\r\n', '\r\nConnection: keep-alive\r\n\r\n'));
    const bytes = String(await once(socket, 'data').then(([first]) => first as Buffer));
    socket.write(junk);
    const rest = await socket.toArray().catch(() => []);
    expect(bytes + Buffer.concat(rest as Buffer[])).not.toMatch(/HTTP\/1\.1 400|problem/);
    expect(info).toHaveBeenLastCalledWith(
      expect.objectContaining({ address: '127.0.0.1' }),
      expect.stringContaining('response cut'),
    );
  }
});

test('what follows the last request of a connection is not read, and that request gets its response', async () => {
  server.removeAllListeners('request');
  server.on('request', (_request, response) => void setTimeout(() => response.end('whole'), 20));
  const socket = open();
  socket.write(`${request('1.1').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}junk\r\n\r\n`);
  const text = Buffer.concat(await socket.toArray()).toString();
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(text.match(/HTTP|whole/g)).toEqual(['HTTP', 'whole']);
  expect(info).not.toHaveBeenCalled();
});
