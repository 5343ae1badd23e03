import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { startManagement } from '../../../../test/support/management.ts';

/** Sends the request, and resets the connection. */
const client = `
  const [port, request] = process.argv.slice(1);
  const socket = require('node:net').connect(Number(port), '127.0.0.1');
  socket.on('connect', () => socket.write(request, () => socket.resetAndDestroy()));
`;

test('a connection that is reset before it is accepted, and so has no address, gets nothing done', async () => {
  const { app, context, operatorToken, close } = await startManagement(await engines[0].openTestStore());
  try {
    const served: unknown[] = [];
    app.addHook('onRequest', async ({ ip }) => void served.push(ip));
    await app.listen({ port: 0, host: '127.0.0.1' });
    const body = JSON.stringify({ tenant: 'acme' });
    const headers = `host: a\r\nauthorization: Bearer ${await operatorToken('operator:write')}\r\ncontent-type: application/json`;
    const request = `POST /operator/v1/tenants HTTP/1.1\r\n${headers}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    // this process, the service too, accepts the connection only afterwards
    execFileSync(process.execPath, ['-e', client, String((app.server.address() as AddressInfo).port), request]);
    const [socket] = await once(app.server, 'connection');
    if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve));
    expect(served).toEqual([]);
    const entries = await context.store.readDirectory("select id from audit_entry where action = 'tenant.create'");
    expect(entries).toEqual([]);
  } finally {
    await close();
  }
});
