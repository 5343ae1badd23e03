import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { createClient } from '../../packages/service/auth/clients/manage-clients.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { findTenant, insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { freePort } from '../../tools/free-port.ts';
import type { TestStore } from './engines.ts';
import { eventually } from './eventually.ts';
import { subscriptionRow } from './rows.ts';
import { type RunningCommand, startCommand, untilWritten } from './run-command.ts';

const now = (): number => Math.floor(Date.now() / 1000);

/** The response of a request on a new connection, or the connection's error. */
interface Received {
  readonly status: number | string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Sends a GET on a new connection, which any worker may get. */
export function fetchOnce(url: string, headers: Record<string, string> = {}): Promise<Received> {
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

/** A store with a tenant of 1,000 records. */
export interface FilledStore extends TestStore {
  readonly tenant: TenantId;
}

/** Adds the tenant and its records to an empty store. */
export async function fill(opened: TestStore): Promise<FilledStore> {
  await insertTenant(opened.store, 'acme', now());
  const tenant = (await findTenant(opened.store, 'acme'))?.tenant as TenantId;
  const rows = Array.from({ length: 1_000 }, (_, n) => subscriptionRow({ id: `there${n}`, createdDate: n }));
  await opened.store.loadSubscriptions(tenant, rows);
  return { ...opened, tenant };
}

/** `subreport serve --workers 2` on a store. */
export interface Workers {
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

/** Every command that a test started. */
export const started: RunningCommand[] = [];

/** Kills every process that a test started. */
export async function stopAll(): Promise<void> {
  for (const command of started.splice(0)) {
    command.child.kill('SIGKILL');
    await command.ended;
  }
}

/** Starts two workers, and creates a client of the tenant. */
export async function serveWithWorkers({ store, environment, tenant }: FilledStore, more: Record<string, string> = {}) {
  const port = await freePort();
  const command = startCommand(['serve', '--workers', '2'], {
    environment: { ...environment, PORT: String(port), ...more },
  });
  started.push(command);
  await untilWritten(command, '"serving"');
  const url = `http://127.0.0.1:${port}`;
  const credentials = await createClient(store, now(), { tenant });
  const log: Workers['log'] = () => {
    const lines = command.stdout().split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  };
  const workers: Workers = {
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
  return workers;
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Sends a stop signal while many requests run, and checks that each gets its response. */
export async function stopUnderLoad(workers: Workers, signal: NodeJS.Signals): Promise<void> {
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
  const earlier = workers.log().length;
  workers.command.child.kill(signal);
  signalled = true;
  await Promise.all(load);
  const settled = await Promise.all(responses);
  expect(settled.map(({ status }) => status)).toEqual(settled.map(() => 200));
  expect(settled.filter(({ body }) => (JSON.parse(body) as unknown[]).length !== 1_000)).toEqual([]);
  const { code, stderr } = await workers.command.ended;
  expect([code, stderr]).toEqual([0, '']);
  const stopped = workers
    .log()
    .slice(earlier)
    .filter(({ msg }) => msg === 'stopped');
  expect(stopped.map(({ worker }) => typeof worker).toSorted()).toEqual(['number', 'number', 'undefined']);
  expect((await fetchOnce(workers.reportUrl, headers)).status).toBe('ECONNREFUSED');
}
