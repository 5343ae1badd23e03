import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openSqlite } from '../../../../test/support/engines.ts';
import { readUntilClose } from '../../../../test/support/read-until-close.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { operations } from '../../../contract/operations.ts';

let service: TestService;
let token: string;
beforeAll(async () => {
  service = await startService(await openSqlite());
  token = await service.accessToken(await service.createClient(await service.createTenant('acme')));
});
afterAll(() => service.close());

/** More than the buffers of both sides hold, so that a service that does not read it is noticed. */
const megabytes = 24;
const part = Buffer.alloc(2 ** 20, 'x');

const { searchSubscriptions, issueToken } = operations;
const json = 'application/json';
const form = 'application/x-www-form-urlencoded';

test.each([
  [413, searchSubscriptions.path, json, 'content-length'],
  [413, searchSubscriptions.path, json, 'transfer-encoding'],
  [415, searchSubscriptions.path, 'text/plain', 'content-length'],
  [415, searchSubscriptions.path, 'text/plain', 'transfer-encoding'],
  [400, issueToken.path, form, 'content-length'],
  [400, issueToken.path, form, 'transfer-encoding'],
  [400, issueToken.path, json, 'content-length'],
])(
  'a client that sends its whole body first reads %i of %s, for a body of %s with %s',
  async (status, path, type, framing) => {
    const { hostname, port, host } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const failed = once(socket, 'error').then(([error]) => Promise.reject(error));
    failed.catch(() => undefined);
    const send = async (bytes: string | Buffer): Promise<void> => {
      if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), failed]);
    };
    const isChunked = framing === 'transfer-encoding';
    const headers = [`host: ${host}`, `authorization: Bearer ${token}`, `content-type: ${type}`];
    const length = `${framing}: ${isChunked ? 'chunked' : megabytes * part.length}`;
    await send(`POST ${path} HTTP/1.1\r\n${[...headers, length].join('\r\n')}\r\n\r\n`);
    for (let sent = 0; sent < megabytes; sent += 1) {
      if (isChunked) await send(`${part.length.toString(16)}\r\n`);
      await send(part);
      if (isChunked) await send('\r\n');
    }
    if (isChunked) await send('0\r\n\r\n');
    // the connection serves another request
    await send(`GET /healthz HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    let received = '';
    for await (const chunk of socket) received += chunk;
    expect(received.match(/(?<=HTTP\/1\.1 )\d+/g)?.map(Number)).toEqual([status, 200]);
  },
);

test('a connection whose rejected body never ends is closed', async () => {
  const { hostname, port, host } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const headers = [`host: ${host}`, `authorization: Bearer ${token}`, `content-type: ${json}`];
  socket.write(
    `POST ${searchSubscriptions.path} HTTP/1.1\r\n${headers.join('\r\n')}\r\ntransfer-encoding: chunked\r\n\r\n`,
  );
  const sending = setInterval(() => socket.write(`80000\r\n${'x'.repeat(0x80000)}\r\n`), 20);
  onTestFinished(() => {
    clearInterval(sending);
    socket.destroy();
  });
  const received = await readUntilClose(socket);
  expect(received).toMatch(/^HTTP\/1\.1 413/);
});
