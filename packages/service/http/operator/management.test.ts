import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { testKeyRing } from '../../../../test/support/key-ring.ts';
import { readUntilClose } from '../../../../test/support/read-until-close.ts';
import { createFailureBudget } from '../../auth/failure-budget.ts';
import { createOperatorSessions } from '../../auth/sessions/session-holder.ts';
import { createOperatorGate } from '../../auth/verify/authorize-operator.ts';
import { Spool } from '../../import/spool.ts';
import { openSqliteStore } from '../../storage/sqlite/store.ts';
import { RequestError } from '../listener/error.ts';
import { buildManagementServer } from './management.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
const store = openSqliteStore(folder);
const onUnrecorded = () => undefined;
const gate = createOperatorGate({ store, failures: createFailureBudget(20), now: () => 0, onUnrecorded });
const app = await buildManagementServer({
  store,
  publicUrl: 'http://127.0.0.1',
  renderMetrics: async () => undefined,
  hasConsole: false,
  spool: new Spool(join(folder, 'spool'), 1_000),
  bodyPace: { stallMs: 1_000, rateMin: 1_024 },
  bodyMs: 300,
  allowedHosts: ['127.0.0.1', 'Subreport.internal'],
  requestMs: 5_000,
  connectionsPerAddressMax: 100,
  limiter: { countCostly: async () => undefined },
  authorizeWrite: async () => {
    throw new RequestError('UNAUTHORISED', 'Cannot let you in');
  },
  keyRing: testKeyRing(store, () => 0),
  operatorGate: gate,
  operatorSessions: createOperatorSessions({
    ...{ store, now: () => 0, onUnrecorded },
    limits: { sessionIdleSeconds: 1_800, sessionSeconds: 43_200 },
  }),
  now: () => 0,
  audit: { add: async () => () => undefined, record: async () => undefined },
  readHealth: async () => undefined,
  checkStore: async () => undefined,
  settings: [],
  checkReady: async () => undefined,
  isDraining: () => false,
  trustedProxies: [],
  logger: pino({ level: 'silent' }),
});
let port: number;
beforeAll(async () => {
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(async () => {
  await app.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

test.each([
  ['without a token', 'PUT /operator/v1/tenants/acme/subscriptions', '401'],
  ['of another method', 'POST /operator/v1/tenants/acme/subscriptions', '405'],
  ['to another path', 'PUT /elsewhere', '404'],
])(
  'a request %s whose body never ends gets a response, then its connection is closed',
  async (_title, line, status) => {
    const endless = connect(port, '127.0.0.1');
    endless.on('error', () => undefined);
    const type = 'content-type: application/x-ndjson';
    endless.write(`${line} HTTP/1.1\r\nhost: localhost\r\n${type}\r\ncontent-length: 1000000\r\n\r\n`);
    const dripping = setInterval(() => endless.write('x'), 20);
    const received = await readUntilClose(endless);
    clearInterval(dripping);
    expect(received).toContain(`HTTP/1.1 ${status}`);
  },
);

test('404 for an unknown path names the pages that list the operations, and both exist', async () => {
  const { statusCode, body } = await app.inject('/elsewhere');
  const [message = ''] = JSON.parse(body).messages;
  const named = message.match(/\/[\w.]+/g);
  expect([statusCode, named]).toEqual([404, ['/openapi.json', '/docs']]);
  for (const path of named) expect((await app.inject(path)).statusCode).toBe(200);
});

test('a connection whose requests were complete stays open', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  for (let n = 1; n <= 2; n += 1) {
    socket.write('PUT /elsewhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n\r\nbody');
    await expect.poll(() => received.match(/HTTP\/1.1 404/g)?.length).toBe(n);
    vi.advanceTimersByTime(60_000); // longer than the rest of a body may take to arrive
  }
  socket.destroy();
});

test.each(['localhost', 'LOCALHOST:9464', '127.0.0.1:1', '10.1.2.3', '[::1]:9464', 'subreport.internal:80'])(
  'a request to the host %s is accepted',
  async (host) => {
    expect((await app.inject({ url: '/healthz', headers: { host } })).statusCode).toBe(200);
  },
);

test.each(['attacker.example', 'localhost.attacker.example:9464', 'localhost.', '127.0.0.1.attacker.example'])(
  'a page of the host %j, which may be another site whose name resolves to this listener, reads nothing',
  async (host) => {
    for (const url of ['/metrics', '/openapi.json', '/healthz', '/elsewhere']) {
      const { statusCode, body } = await app.inject({ url, headers: { host } });
      expect([url, statusCode, JSON.parse(body).messages[0]]).toEqual([
        url,
        400,
        expect.stringContaining("'host' must be an address, localhost, or a name in MANAGEMENT_URL"),
      ]);
    }
  },
);
