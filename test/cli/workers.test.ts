import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../src/auth/manage-clients.ts';
import type { TenantId } from '../../src/storage/store.ts';
import { findTenant, insertTenant } from '../../src/storage/tables/tenant.ts';
import { freePort } from '../../tools/free-port.ts';
import { engines, type TestStore } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { subscriptionRow } from '../support/rows.ts';
import { type RunningCommand, runCommand, startCommand, untilWritten } from '../support/run-command.ts';

const now = (): number => Math.floor(Date.now() / 1000);
const errorMessage = /^Cannot [^\n]+\n$/;

/** The response of a request on a new connection, or the connection's error. */
interface Received {
  readonly status: number | string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Sends a GET on a new connection, which any worker may get. */
function fetchOnce(url: string, headers: Record<string, string> = {}): Promise<Received> {
  return new Promise((resolve) => {
    const failed = ({ code = 'ERROR' }: NodeJS.ErrnoException) => resolve({ status: code, headers: {}, body: '' });
    const request = get(url, { agent: false, headers }, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      response.on('error', failed);
    });
    request.on('error', failed);
    request.setTimeout(60_000, () => request.destroy(Object.assign(new Error(), { code: 'TIMEOUT' })));
  });
}

/** `subreport serve --workers N` on a store, with a tenant of some records and a client. */
interface Workers {
  readonly command: RunningCommand;
  readonly url: string;
  readonly reportUrl: string;
  readonly credentials: Readonly<Record<'client_id' | 'client_secret', string>>;
  /** Every line of the log, parsed; throws if a line is not JSON. */
  log(): Record<string, unknown>[];
  /** Process ids of the workers that began to listen, oldest first. */
  pids(): number[];
  token(): Promise<string>;
}

describe.each(engines)('serve --workers on $engine', ({ engine, openTestStore }) => {
  let opened: TestStore;
  let tenant: TenantId;
  const started: RunningCommand[] = [];

  beforeAll(async () => {
    opened = await openTestStore();
    await insertTenant(opened.store, 'acme', now());
    tenant = (await findTenant(opened.store, 'acme'))?.tenant as TenantId;
    const rows = Array.from({ length: 1_000 }, (_, n) => subscriptionRow({ id: `there${n}`, createdDate: n }));
    await opened.store.loadSubscriptions(tenant, rows);
  });
  afterEach(async () => {
    for (const command of started.splice(0)) {
      command.child.kill('SIGKILL');
      await command.ended;
    }
  });
  afterAll(() => opened.close());

  async function startWorkers(count: number, more: Record<string, string> = {}): Promise<Workers> {
    const port = await freePort();
    const command = startCommand(['serve', '--workers', String(count)], {
      environment: { ...opened.environment, PORT: String(port), ...more },
    });
    started.push(command);
    await untilWritten(command, '"serving"');
    const url = `http://127.0.0.1:${port}`;
    const credentials = await createClient(opened.store, now(), { tenant });
    const log: Workers['log'] = () => {
      const lines = command.stdout().split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line));
    };
    return {
      command,
      url,
      reportUrl: `${url}/connect-api/v1/subscription`,
      credentials,
      log,
      pids: () =>
        log()
          .filter(({ msg }) => String(msg).startsWith('listening at '))
          .map(({ pid }) => Number(pid)),
      async token() {
        const body = new URLSearchParams({ grant_type: 'client_credentials', ...credentials });
        const response = await fetch(`${url}/oauth2/token`, { method: 'POST', body, headers: { connection: 'close' } });
        return ((await response.json()) as { access_token: string }).access_token;
      },
    };
  }

  test('every worker responds, logs its id, and accepts the tokens of other workers', async () => {
    const workers = await startWorkers(3);
    const tokens = await Promise.all(Array.from({ length: 40 }, () => workers.token()));
    // with high probability each worker gets each of them
    const requests = [...tokens, ...tokens, ...tokens];
    const responses = await Promise.all(
      requests.map((token) => fetchOnce(workers.reportUrl, { authorization: `Bearer ${token}` })),
    );
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    const isReport = ({ tenant: of, route }: Record<string, unknown>) => of === 'acme' && route !== '/oauth2/token';
    await eventually(() => expect(workers.log().filter(isReport)).toHaveLength(120));
    const lines = workers.log().filter(({ route }) => route !== undefined);
    expect(new Set(lines.map(({ worker }) => worker))).toEqual(new Set([1, 2, 3]));
    expect(new Set(lines.map(({ pid }) => pid))).toEqual(new Set(workers.pids()));
    const makers = new Set(lines.filter(({ route }) => route === '/oauth2/token').map(({ pid }) => pid));
    expect(makers.size).toBe(3);
    expect(workers.log().filter(({ msg }) => msg === 'serving')).toEqual([expect.objectContaining({ workers: 3 })]);
  });

  test('reading all pages during an import returns every existing record exactly once', async () => {
    const workers = await startWorkers(2);
    const folder = mkdtempSync(join(tmpdir(), 'subreport-workers-'));
    const file = join(folder, 'rows.ndjson');
    await runCommand(['generate', '--subscriptions', '3000', '--output', file]);
    const headers = { authorization: `Bearer ${await workers.token()}` };
    const importing = runCommand(['import', file, '--tenant', 'acme', '--json'], { environment: opened.environment });
    let ended = false;
    void importing.then(() => {
      ended = true;
    });
    const sizes: number[] = [];
    do {
      const seen: string[] = [];
      for (let url: string | undefined = `${workers.reportUrl}?size=50`; url !== undefined; ) {
        const response = await fetchOnce(url, headers);
        expect(response.status).toBe(200);
        seen.push(...(JSON.parse(response.body) as { id: string }[]).map(({ id }) => id));
        url = response.headers['x-next-page'] as string | undefined;
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((id) => id.startsWith('there'))).toEqual(Array.from({ length: 1_000 }, (_, n) => `there${n}`));
      sizes.push(seen.length);
    } while (!ended);
    expect(await importing).toMatchObject({ code: 0, stderr: '' });
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
    const last = await fetchOnce(workers.reportUrl, headers);
    expect(last.headers['x-total-count']).toBe('4000');
    expect(new Set(workers.log().map(({ worker }) => worker))).toEqual(new Set([undefined, 1, 2]));
    rmSync(folder, { recursive: true });
  });

  test('limits hold for all workers together, however connections are distributed', async () => {
    const workers = await startWorkers(3, { RATE_LIMIT_PER_MINUTE: '10', TOKEN_FAILURES_PER_MINUTE: '4' });
    const headers = { authorization: `Bearer ${await workers.token()}` };
    const responses = await Promise.all(Array.from({ length: 60 }, () => fetchOnce(workers.reportUrl, headers)));
    const accepted = responses.filter(({ status }) => status === 200);
    expect(accepted).toHaveLength(10);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(50);
    const remaining = accepted.map(({ headers: { 'x-rate-limit-remaining': left } }) => Number(left));
    expect(remaining.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const guesses: number[] = [];
    const chosen = await createClient(opened.store, now(), { tenant, secret: 'correct horse battery' });
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const form = { grant_type: 'client_credentials', ...chosen, client_secret: 'guess' };
      const guess = { method: 'POST', body: new URLSearchParams(form), headers: { connection: 'close' } };
      guesses.push((await fetch(`${workers.url}/oauth2/token`, guess)).status);
    }
    expect(guesses).toEqual([401, 401, 401, 401, 429, 429, 429, 429, 429, 429]);
    await eventually(() => {
      const limited = workers.log().filter(({ status }) => status === 429);
      expect(new Set(limited.map(({ pid }) => pid)).size).toBe(3);
    });
  });

  test('kill -9 of a worker: the others keep serving, and it is replaced', async () => {
    const workers = await startWorkers(2);
    const headers = { authorization: `Bearer ${await workers.token()}` };
    const [victim = 0] = workers.pids();
    process.kill(victim, 'SIGKILL');
    await eventually(() => expect(workers.command.stdout()).toContain('a worker exited'));
    const meanwhile = await Promise.all(Array.from({ length: 10 }, () => fetchOnce(workers.reportUrl, headers)));
    expect(meanwhile.map(({ status }) => status)).toEqual(Array(10).fill(200));
    await eventually(() => expect(workers.pids()).toHaveLength(3));
    expect(workers.log()).toContainEqual(expect.objectContaining({ level: 'warn', pid: victim, signal: 'SIGKILL' }));
    const after = await Promise.all(Array.from({ length: 40 }, () => fetchOnce(workers.reportUrl, headers)));
    expect(after.map(({ status }) => status)).toEqual(Array(40).fill(200));
    await eventually(() => {
      const recent = workers.log().slice(-40);
      expect(new Set(recent.map(({ pid }) => pid))).toEqual(new Set(workers.pids().slice(1)));
    });
    workers.command.child.kill('SIGTERM');
    expect(await workers.command.ended).toMatchObject({ code: 0, stderr: '' });
  });

  test('kill -9 of all workers at once: all are replaced', async () => {
    const workers = await startWorkers(2);
    for (const pid of workers.pids()) process.kill(pid, 'SIGKILL');
    await eventually(() => expect(workers.pids()).toHaveLength(4));
    expect((await fetchOnce(`${workers.url}/readyz`)).status).toBe(200);
  });

  test('SIGTERM to a worker: its running requests finish, and it is replaced', async () => {
    const workers = await startWorkers(2);
    const headers = { authorization: `Bearer ${await workers.token()}` };
    const running = Array.from({ length: 20 }, () => fetchOnce(`${workers.reportUrl}?size=1000`, headers));
    await sleep(5);
    const [pid = 0] = workers.pids();
    process.kill(pid, 'SIGTERM');
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual(running.map(() => 200));
    await eventually(() => expect(workers.pids()).toHaveLength(3));
    expect(workers.log()).toContainEqual(expect.objectContaining({ pid, level: 'warn', code: 0 }));
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '%s under load: each request gets its response, then the process exits with 0',
    async (signal) => {
      const workers = await startWorkers(2);
      const headers = { authorization: `Bearer ${await workers.token()}` };
      const responses: Promise<Received>[] = [];
      let signalled = false;
      const load = Array.from({ length: 8 }, async () => {
        while (!signalled) {
          const response = fetchOnce(`${workers.reportUrl}?size=1000`, headers);
          responses.push(response);
          // some wait for their turn, so that many requests run
          await Promise.race([response, sleep(20)]);
        }
      });
      await eventually(() => expect(responses.length).toBeGreaterThan(40));
      workers.command.child.kill(signal);
      signalled = true;
      await Promise.all(load);
      const settled = await Promise.all(responses);
      expect(settled.length).toBeGreaterThan(16);
      expect(settled.map(({ status }) => status)).toEqual(settled.map(() => 200));
      expect(settled.filter(({ body }) => (JSON.parse(body) as unknown[]).length !== 1_000)).toEqual([]);
      const { code, stderr } = await workers.command.ended;
      expect([code, stderr]).toEqual([0, '']);
      const stopped = workers.log().filter(({ msg }) => msg === 'stopped');
      expect(new Set(stopped.map(({ worker }) => worker))).toEqual(new Set([undefined, 1, 2]));
      expect((await fetchOnce(workers.reportUrl, headers)).status).toBe('ECONNREFUSED');
    },
  );

  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  test('a second signal kills all processes at once', async () => {
    const workers = await startWorkers(2, { SHUTDOWN_DELAY_SECONDS: '60' });
    workers.command.child.kill('SIGTERM');
    await untilWritten(workers.command, '"stopping"');
    await eventually(async () => expect((await fetchOnce(`${workers.url}/readyz`)).status).toBe(503));
    workers.command.child.kill('SIGTERM');
    expect((await workers.command.ended).code).toBe(1);
    await eventually(() => expect(workers.pids().filter(isAlive)).toEqual([]));
  });

  test('a killed primary process takes its workers with it', async () => {
    const workers = await startWorkers(2);
    const pids = workers.pids();
    expect(pids.filter(isAlive)).toHaveLength(2);
    workers.command.child.kill('SIGKILL');
    await eventually(() => expect(pids.filter(isAlive)).toEqual([]));
    expect((await fetchOnce(`${workers.url}/readyz`)).status).toBe('ECONNREFUSED');
  });

  test.runIf(engine === 'postgres')('DATABASE_POOL_SIZE is the limit of all workers together', async () => {
    const url = `${opened.environment.DATABASE_URL}?application_name=fleet`;
    const workers = await startWorkers(2, { DATABASE_POOL_SIZE: '5', DATABASE_URL: url });
    const headers = { authorization: `Bearer ${await workers.token()}` };
    const responses = await Promise.all(Array.from({ length: 60 }, () => fetchOnce(workers.reportUrl, headers)));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    const admin = new pg.Client({ connectionString: opened.environment.DATABASE_URL });
    await admin.connect();
    const { rows } = await admin.query("select pid from pg_stat_activity where application_name = 'fleet'");
    await admin.end();
    // two for each worker, its listener, and the one of the primary process
    expect(rows).toHaveLength(2 * 2 + 2 + 1);
  });

  describe('starting workers fails with one message, exit code 1 and no stack for', () => {
    const failure = async (more: Record<string, string>): Promise<string> => {
      const command = startCommand(['serve', '--workers', '3'], { environment: { ...opened.environment, ...more } });
      started.push(command);
      const { code, stderr, stdout } = await command.ended;
      expect([code, stderr]).toEqual([1, expect.stringMatching(errorMessage)]);
      expect(stdout).not.toContain('"serving"');
      return stderr;
    };

    test('a port in use', async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as { port: number };
      expect(await failure({ PORT: String(port) })).toContain(`127.0.0.1:${port}: the port must be free`);
      server.close();
    });

    test('a port shared by the workers of another command', async () => {
      const { url } = await startWorkers(2);
      const { port } = new URL(url);
      expect(await failure({ PORT: port })).toContain(`127.0.0.1:${port}: the port must be free`);
    });

    test('an address that is not of this machine', async () => {
      const more = { HOST: '192.0.2.1', ALLOW_HTTP: 'true', PORT: String(await freePort()) };
      expect(await failure(more)).toContain('HOST must be an address of this machine');
    });

    test('keys that cannot be read', async () => {
      const port = String(await freePort());
      const right = await startWorkers(2, { KEY_ENCRYPTION_SECRET: randomBytes(32).toString('base64') });
      right.command.child.kill('SIGTERM');
      expect((await right.command.ended).code).toBe(0);
      const wrong = randomBytes(32).toString('base64');
      const said = await failure({ PORT: port, KEY_ENCRYPTION_SECRET: wrong });
      expect(said).toContain('KEY_ENCRYPTION_SECRET');
      expect(said).not.toContain(wrong);
    });

    test('an unreachable PostgreSQL', async () => {
      const url = `postgres://subreport:hidden@127.0.0.1:${await freePort()}/subreport`;
      const said = await failure({ DATABASE_URL: url });
      expect(said).toContain('DATABASE_URL');
      expect(said).not.toContain('hidden');
    });
  });
});

describe('--workers', () => {
  test.each(['0', '65', '-1', '1.5', 'many', ''])('%j is wrong use', async (value) => {
    const { code, stdout, stderr } = await runCommand(['serve', '--workers', value]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`it must be an integer from 1 to 64, or auto, such as 4: current value is '${value}'`);
  });

  test.each(['1', 'auto'])('%s starts, with a demo that is announced once', async (value) => {
    const folder = mkdtempSync(join(tmpdir(), 'subreport-workers-'));
    const environment = { DATA_DIR: join(folder, 'data'), PORT: String(await freePort()) };
    const command = startCommand(['serve', '--demo', '--workers', value], { environment });
    onTestFinished(async () => {
      command.child.kill('SIGKILL');
      await command.ended;
      rmSync(folder, { recursive: true });
    });
    await untilWritten(command, '"serving"');
    expect(command.stdout().split('"serving"')).toHaveLength(2);
    expect((await fetchOnce(`http://127.0.0.1:${environment.PORT}/readyz`)).status).toBe(200);
    const alone = value === '1' || availableParallelism() === 1;
    await eventually(() => expect(command.stdout()).toContain('"/readyz"'));
    expect(command.stdout().includes('"worker":')).toBe(!alone);
    command.child.kill('SIGTERM');
    expect((await command.ended).code).toBe(0);
  });
});
