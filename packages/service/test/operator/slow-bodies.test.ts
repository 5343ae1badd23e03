import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSqlite } from '../../../../test/support/engines.ts';
import { startManagement, type TestManagement } from '../../../../test/support/management.ts';
import { readUntilClose } from '../../../../test/support/read-until-close.ts';

let management: TestManagement;
let port: number;
let token: string;

beforeAll(async () => {
  management = await startManagement(await openSqlite(), {
    bodyPace: { stallMs: 400, rateMin: 1_024 },
    bodyMs: 300,
  });
  port = Number(new URL(await management.app.listen({ host: '127.0.0.1', port: 0 })).port);
  token = await management.operatorToken('operator:read', 'operator:write', 'subscription:write');
  await management.send('POST', '/operator/v1/tenants', { token, body: { tenant: 'acme' } });
});
afterAll(() => management.close());

/** Sends the head of a request and a byte every 20 ms; resolves with what arrived until the end. */
async function drip(line: string, type: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const head = [`${line} HTTP/1.1`, 'host: localhost', `content-type: ${type}`, `authorization: Bearer ${token}`];
  socket.write(`${head.join('\r\n')}\r\ncontent-length: 10000\r\n\r\n`);
  const dripping = setInterval(() => socket.write(' '), 20);
  const received = await readUntilClose(socket);
  clearInterval(dripping);
  return received;
}

test('loads whose bodies drip end with 408, and their slots are free again', async () => {
  const load = () => drip('PUT /operator/v1/tenants/acme/subscriptions?dry-run=true', 'application/x-ndjson');
  for (const received of await Promise.all([load(), load()])) {
    expect(received).toMatch(/^HTTP\/1\.1 408 /);
    expect(received).toContain('must arrive at 1024 per second on average');
  }
  const { status } = await management.send('PUT', '/operator/v1/tenants/acme/subscriptions', {
    token,
    headers: { 'content-type': 'application/x-ndjson' },
    body: {},
  });
  expect(status).toBe(200);
});

test('an authorized request that loads nothing must arrive in time, however steadily it drips', async () => {
  const received = await drip('POST /operator/v1/tenants', 'application/json');
  expect(received).toMatch(/^HTTP\/1\.1 408 /);
  expect(received).toContain('it must arrive within 0.3 s');
});
