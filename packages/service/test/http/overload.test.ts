import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, openPostgres } from '../../../../test/support/engines.ts';
import { expectProblem, expectTokenError } from '../../../../test/support/expect-error.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import { operations } from '../../../contract/operations.ts';
import type { Problem } from '../../../contract/problem.ts';

const drawn = drawOne(engines, import.meta.url);

const page = '/v1/subscription?size=1';

// SQLite: there, requests run one after another; on PostgreSQL, each has a connection of its own
describe('a greedy tenant', () => {
  let service: TestService;
  const tokens: string[] = [];
  const sockets: Socket[] = [];

  beforeAll(async () => {
    service = await startService(await engines[0].openTestStore());
    for (const name of ['greedy', 'quiet']) {
      const tenant = await service.createTenant(name);
      await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: name })]);
      tokens.push(await service.accessToken(await service.createClient(tenant)));
    }
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await service.close();
  });

  test('does not delay the request of another tenant behind its own that arrived before', async () => {
    const greedy = await Promise.all(Array.from({ length: 60 }, open));
    const quiet = await open();
    const done = tokens.map((token) => service.get(page, token).then((response) => response.arrayBuffer()));
    await Promise.all(done); // both tenants' clients are cached
    const before = service.log.length;
    // one turn of the event loop reads all of them: this process is the service, too
    for (const [n, socket] of greedy.entries()) socket.write(request(n, tokens[0]));
    quiet.write(request(0, tokens[1]));
    const finished = () => service.log.slice(before).filter(({ msg }) => msg === 'request');
    await expect.poll(() => finished().length).toBe(61);
    expect(finished().findIndex(({ tenant }) => tenant === 'quiet')).toBeLessThan(10);
    expect(finished().filter(({ status }) => status !== 200)).toEqual([]);
  });

  async function open(): Promise<Socket> {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    sockets.push(socket);
    socket.resume();
    await once(socket, 'connect');
    return socket;
  }

  const request = (n: number, token: string | undefined): string =>
    `GET /connect-api${page}&before=2026-01-01T00:00:${String(n).padStart(2, '0')}Z HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`;
});

// PostgreSQL: only there a test can hold a statement
describe('a service whose requests hang', () => {
  const [, postgres] = engines;
  let service: TestService;
  let client: TestClient;
  let token: string;
  let blocker: pg.Client;

  beforeAll(async () => {
    const opened = await postgres.openTestStore();
    blocker = await connectPostgres(opened.environment.DATABASE_URL);
    service = await startService(opened, { DATABASE_POOL_SIZE: '4' }, { requestsWaitingMax: 2 });
    const tenant = await service.createTenant('acme');
    client = await service.createClient(tenant);
    token = await service.accessToken(client);
    await (await service.get(page, token)).arrayBuffer();
  });
  afterAll(async () => {
    await blocker.end();
    await service.close();
  });

  test('gives 503 to what exceeds its queue, while health checks and other work go on', async () => {
    await blocker.query('begin; lock table subscription in access exclusive mode');
    const statuses: number[] = [];
    const held = Array.from({ length: 9 }, async (_, n) => {
      const response = await service.get(`/v1/subscription?size=${n + 1}`, token);
      statuses.push(response.status);
      return response;
    });
    // at most three of one tenant run, and two wait
    await expect.poll(() => statuses.length).toBeGreaterThanOrEqual(4);
    const refused = await service.get('/v1/subscription?size=20', token);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await expectProblem(refused, 'UNAVAILABLE');
    for (const path of ['/healthz', '/readyz']) expect((await fetch(service.url + path)).status).toBe(200);
    expect(await service.accessToken(client)).not.toBe('');
    await blocker.query('rollback');
    const all = await Promise.all(held);
    // the request for a token took the place of one that waited
    expect(all.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(2);
    expect(service.log.filter(({ level }) => level === 'error' || level === 50)).toEqual([]);
    expect((await service.get(page, token)).status).toBe(200);
  });

  test('gives 503 to each operation of the report while its queue is full', async () => {
    await blocker.query('begin; lock table subscription in access exclusive mode');
    const statuses: number[] = [];
    const held = Array.from({ length: 9 }, async (_, n) => {
      const { status } = await service.get(`/v1/subscription?size=${n + 30}`, token);
      statuses.push(status);
    });
    await expect.poll(() => statuses.length).toBeGreaterThanOrEqual(4);
    const known = Object.entries(operations).filter(([, { tag }]) => tag === 'report');
    const details = known.map(async ([name, { method, path }]) => {
      const query = name === 'getChangesSummary' ? '?since=2001-01-01T00:00:00Z' : '';
      const response = await fetch(service.url + path.replace('{id}', 'one') + query, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: '{}' }),
      });
      return [name, ((await response.json()) as Partial<Problem>).detail];
    });
    const rule = expect.stringContaining('fewer requests of this client must be in progress');
    expect(await Promise.all(details)).toEqual(known.map(([name]) => [name, rule]));
    await blocker.query('rollback');
    await Promise.all(held);
  });

  test('gives the token requests of one client 503 in the form of RFC 6749 §5.2', async () => {
    await blocker.query('begin; lock table client_secret in access exclusive mode');
    const form = { grant_type: 'client_credentials', ...client };
    const held = Array.from({ length: 6 }, () => service.postToken(form));
    const first = await Promise.race(held);
    expect(Number(first.headers.get('retry-after'))).toBeGreaterThan(0);
    await expectTokenError(first, 'temporarily_unavailable');
    await blocker.query('rollback');
    expect((await Promise.all(held)).filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(2);
  });
});

// PostgreSQL: only there the work of one tenant can hang, such as on a worker of Citus
describe('tenants whose statements hang', () => {
  const hanging = ['one', 'two', 'three', 'four'];
  const lock = 7;

  /** A service whose tenants but `quiet` hang while the blocker has the lock. */
  async function serveHanging(secondsMax: string) {
    const opened = await openPostgres(testRole);
    const blocker = await connectPostgres(opened.environment.DATABASE_URL);
    const environment = { DATABASE_POOL_SIZE: '4', REQUEST_SECONDS_MAX: secondsMax };
    const service = await startService(opened, environment);
    const tokens = new Map<string, string>();
    const status = async (name: string, size: number): Promise<number> =>
      (await service.get(`/v1/subscription?size=${size}`, tokens.get(name) ?? '')).status;
    const tenants = new Map<string, string>();
    for (const name of [...hanging, 'quiet']) {
      const tenant = await service.createTenant(name);
      tenants.set(name, tenant);
      await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: name })]);
      tokens.set(name, await service.accessToken(await service.createClient(tenant)));
      expect(await status(name, 1)).toBe(200);
    }
    await blocker.query(`create function is_free(tenant text) returns boolean language plpgsql as $$ begin
      if tenant <> '${tenants.get('quiet')}' then perform pg_advisory_xact_lock_shared(${lock}); end if; return true; end $$`);
    await blocker.query('create policy hang on subscription as restrictive using (is_free(tenant_id))');
    const close = async (): Promise<void> => {
      await blocker.end();
      await service.close();
    };
    return { blocker, status, close };
  }

  test('leave connections to the others from the start, if there is one such tenant', async () => {
    // no request may time out on a machine that is busy
    const { blocker, status, close } = await serveHanging('60');
    try {
      await blocker.query(`select pg_advisory_lock(${lock})`);
      const statuses: number[] = [];
      const asked = Array.from({ length: 12 }, (_, n) => status('one', n + 20).then((each) => statuses.push(each)));
      expect(await status('quiet', 40)).toBe(200);
      expect(statuses).toEqual([]);
      await blocker.query(`select pg_advisory_unlock(${lock})`);
      await Promise.all(asked);
      expect(new Set(statuses)).toEqual(new Set([200]));
    } finally {
      await close();
    }
  });

  test('keep other tenants waiting until their first time-out at most: then all of them take one turn', async () => {
    const { blocker, status, close } = await serveHanging('2');
    try {
      await blocker.query(`select pg_advisory_lock(${lock})`);
      const timedOut = await Promise.all(hanging.map((name) => status(name, 2)));
      expect(timedOut).toEqual(hanging.map(() => 503));
      const later: number[] = [];
      const asked = hanging.flatMap((name) =>
        [3, 4, 5].map((size) => status(name, size).then((each) => later.push(each))),
      );
      const quiet: number[] = [];
      while (later.length === 0) quiet.push(await status('quiet', 1));
      await Promise.all(asked);
      expect(new Set(later)).toEqual(new Set([503]));
      expect(quiet.length).toBeGreaterThan(1);
      expect(new Set(quiet)).toEqual(new Set([200]));
      await blocker.query(`select pg_advisory_unlock(${lock})`);
      for (const name of hanging)
        expect(await Promise.all([6, 7, 8].map((size) => status(name, size)))).toEqual([200, 200, 200]);
    } finally {
      await close();
    }
  });
});

describe.each(drawn)('the quota of a client on $engine', ({ openTestStore }) => {
  test('replaces RATE_LIMIT_PER_MINUTE from its next request on, also for a repeated request, and 0 means none', async () => {
    const opened = await openTestStore();
    const service = await startService(opened, { RATE_LIMIT_PER_MINUTE: '1000' });
    const client = await service.createClient(await service.createTenant('acme'));
    const token = await service.accessToken(client);
    const policy = async () => (await service.get(page, token)).headers.get('ratelimit-policy');
    const update = async (limit: string) => {
      const command = ['client', 'update', '--client-id', client.client_id, '--rate-limit', limit, '--json'];
      return JSON.parse((await runHere(command, opened.environment)).stdout).rate_limit_per_minute;
    };
    try {
      for (let n = 0; n < 3; n += 1) expect(await policy()).toBe('"client";q=1000;w=60');
      expect(await update('5')).toBe(5);
      // a change by another process is noticed shortly after it
      await expect.poll(policy).toBe('"client";q=5;w=60');
      let last = await service.get(page, token);
      while (last.status === 200) last = await service.get(page, token);
      expect(last.headers.get('ratelimit')).toContain('r=0');
      await expectProblem(last, 'TOO_MANY_REQUESTS');
      expect(await update('0')).toBe(0);
      await expect.poll(policy).toBeNull();
      expect(await update('default')).toBeNull();
      await expect.poll(policy).toBe('"client";q=1000;w=60');
    } finally {
      await service.close();
    }
  });
});

test('by default, responses state a quota that decreases', async () => {
  const service = await startService(await engines[0].openTestStore());
  try {
    const token = await service.accessToken(await service.createClient(await service.createTenant('acme')));
    const remaining: number[] = [];
    let last: Response | undefined;
    for (let n = 0; n < 4; n += 1) {
      last = await service.get(page, token);
      await last.arrayBuffer();
      remaining.push(Number(/r=(\d+);t=\d+$/.exec(last.headers.get('ratelimit') ?? '')?.[1]));
    }
    expect(remaining).toEqual([59_999, 59_998, 59_997, 59_996]);
    expect(last?.headers.get('ratelimit-policy')).toBe('"client";q=60000;w=60');
  } finally {
    await service.close();
  }
});
