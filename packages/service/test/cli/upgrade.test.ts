import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { type Balancer, startBalancer } from '../../../../test/support/balancer.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, openPostgres, type TestStore } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import { currentSchema, makeNewerVersion, type NewerVersion } from '../../../../test/support/newer-version.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { type RunningCommand, runCommand, startCommand, untilWritten } from '../../../../test/support/run-command.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { createClient } from '../../auth/clients/manage-clients.ts';
import { readConfig } from '../../cli/config.ts';
import { openReadyStore } from '../../cli/store/store-session.ts';
import { checkCounts } from '../../storage/counts/check.ts';
import { readPastRecord } from '../../storage/read/past.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { readHistory } from '../../storage/tables/history.ts';

const drawn = drawOne(engines, import.meta.url);

// Two versions on one store (docs/decisions/storage.md#upgrades): this one, and one with
// another migration.

const programOf = (version: NewerVersion) => [process.execPath, version.main] as const;
let compatible: NewerVersion;
let incompatible: NewerVersion;
beforeAll(() => {
  compatible = makeNewerVersion({ compatible: true });
  incompatible = makeNewerVersion({ compatible: false });
});
afterAll(() => {
  compatible.remove();
  incompatible.remove();
});

describe.each(drawn)('two versions on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  beforeEach(async () => {
    opened = await openTestStore();
  });
  afterEach(() => opened.close());
  const runNewer = (version: NewerVersion, args: readonly string[], more: Record<string, string> = {}) =>
    runCommand(args, { environment: { ...opened.environment, ...more }, program: programOf(version) });
  /** Opens the store as each command of this version does. */
  const openOlder = async (migrateOnStart: string): Promise<void> => {
    const config = readConfig({ ...opened.environment, MIGRATE_ON_START: migrateOnStart });
    await (await openReadyStore(config, { onConnectionError: () => undefined })).close();
  };

  test('the older one stays ready, starts and migrates nothing on a newer schema that names it', async () => {
    expect((await runNewer(compatible, ['migrate'])).code).toBe(0);
    await opened.store.checkReady();
    for (const value of ['true', 'false']) await openOlder(value);
    expect(await opened.store.migrate()).toEqual({ applied: [], current: currentSchema });
    expect((await opened.store.examine()).filter(({ ok }) => !ok)).toEqual([]);
  });

  test('the older one refuses a newer schema that does not name it, with a message', async () => {
    expect((await runNewer(incompatible, ['migrate'])).code).toBe(0);
    const refused = {
      code: 'UNUSABLE',
      message: expect.stringMatching(
        `^Cannot use the database: it was migrated by a newer version .* must know the schema '${incompatible.schema}': current value is '${currentSchema}'; [^\n]+$`,
      ),
    };
    await expect(opened.store.checkReady()).rejects.toMatchObject(refused);
    for (const value of ['true', 'false']) await expect(openOlder(value)).rejects.toMatchObject(refused);
  });

  test('both add their changes to one history, whose former reports stay as they were', async () => {
    expect((await runNewer(compatible, ['migrate'])).code).toBe(0);
    const { store } = opened;
    const tenant = await addTenant(store, 'acme');
    const row = (status: string) => subscriptionRow({ id: 'id1', createdDate: 1, status });
    await store.loadSubscriptions(tenant, [row('PENDING')]);
    const folder = mkdtempSync(join(tmpdir(), 'subreport-versions-'));
    const file = join(folder, 'rows.ndjson');
    try {
      for (const [newer, older] of [
        ['ACTIVE', 'DEPLETED'],
        ['EXPIRED', 'ACTIVE'],
      ] as const) {
        writeFileSync(file, `${row(newer).record}\n`);
        expect(await runNewer(compatible, ['import', file, '--tenant', 'acme'])).toMatchObject({ code: 0 });
        await store.loadSubscriptions(tenant, [row(older)]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
    const read = (asOf: number) =>
      store.readTenant(tenant, (reader) => readPastRecord(reader, 'id1', asOf)).then((text) => JSON.parse(text ?? ''));
    const statuses = await Promise.all([1, 2, 3, 4, 5].map(async (revision) => (await read(revision)).status));
    expect(statuses).toEqual(['PENDING', 'ACTIVE', 'DEPLETED', 'EXPIRED', 'ACTIVE']);
    const { kept } = await store.readTenant(tenant, readHistory);
    expect(kept).toMatchObject({ from: 0 });
    expect((await runNewer(compatible, ['doctor'])).code).toBe(0);
  });

  test('the newer one with MIGRATE_ON_START=false refuses the older schema and says what to run', async () => {
    const { code, stderr } = await runNewer(compatible, ['tenant', 'list'], { MIGRATE_ON_START: 'false' });
    expect([code, stderr]).toEqual([1, expect.stringContaining("run 'subreport migrate'")]);
    await opened.store.checkReady();
  });
});

test('a killed worker of the older version is replaced on the newer schema', async () => {
  const opened = await openPostgres(testRole);
  const environment = { ...opened.environment, PORT: String(await freePort()) };
  const command = startCommand(['serve', '--workers', '2'], { environment });
  const pids = () =>
    [...command.stdout().matchAll(/"pid":(\d+)[^\n]*"msg":"listening at/g)].map(([, pid]) => Number(pid));
  try {
    await untilWritten(command, '"serving"');
    expect((await runCommand(['migrate'], { environment, program: programOf(compatible) })).code).toBe(0);
    expect(pids()).toHaveLength(2);
    process.kill(pids()[0] ?? 0, 'SIGKILL');
    await eventually(() => expect(pids()).toHaveLength(3));
    expect((await fetch(`http://127.0.0.1:${environment.PORT}/readyz`)).status).toBe(200);
  } finally {
    command.child.kill('SIGTERM');
    await command.ended;
    await opened.close();
  }
});

test('a running process stays ready while the files of a later version replace its own', async () => {
  const opened = await engines[0].openTestStore();
  const installed = makeNewerVersion({ compatible: true });
  const port = String(await freePort());
  const environment = { ...opened.environment, PORT: port };
  const command = startCommand(['serve'], { environment, program: programOf(installed) });
  try {
    await untilWritten(command, '"serving"');
    const later = join(dirname(installed.main), '../storage/migrations/sqlite/9999-later.sql');
    writeFileSync(later, `-- Oldest schema a program must know: ${currentSchema}\n`);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  } finally {
    command.child.kill('SIGTERM');
    await command.ended;
    await opened.close();
    installed.remove();
  }
});

describe('an upgrade of a service behind a load balancer, on one PostgreSQL', () => {
  /** Number of upgrades and downgrades; `UPGRADE_ROUNDS=20` makes it a drill of some minutes. */
  const rounds = Number(process.env.UPGRADE_ROUNDS ?? 1);
  let opened: TestStore;
  let balancer: Balancer;
  const running = new Map<string, RunningCommand>();
  beforeAll(async () => {
    opened = await openPostgres(testRole);
    balancer = await startBalancer();
  });
  afterAll(async () => {
    for (const { child, ended } of running.values()) {
      child.kill('SIGKILL');
      await ended;
    }
    await balancer.close();
    await opened.close();
  });

  /** Starts a process of a version behind the load balancer; returns its URL. */
  async function start(version?: NewerVersion): Promise<string> {
    const port = String(await freePort());
    const command = startCommand(['serve'], {
      environment: {
        ...opened.environment,
        PORT: port,
        PUBLIC_URL: balancer.url,
        SHUTDOWN_DELAY_SECONDS: '3',
        DATABASE_POOL_SIZE: '4',
      },
      ...(version !== undefined && { program: programOf(version) }),
    });
    const url = `http://127.0.0.1:${port}`;
    running.set(url, command);
    await untilWritten(command, '"serving"');
    balancer.add(url);
    return url;
  }

  async function stop(url: string): Promise<void> {
    const command = running.get(url);
    command?.child.kill('SIGTERM');
    expect((await command?.ended)?.code).toBe(0);
    running.delete(url);
  }

  test(
    'fails no request in either direction while reports are read and records are written',
    async () => {
      const load = await startLoad(opened.store, balancer.url);
      let older = await start();
      await balancer.untilReady(older);
      load.begin();
      for (let round = 0; round < rounds; round += 1) {
        const newer = await start(compatible);
        await balancer.untilReady(older, newer);
        await load.untilMore(20);
        await stop(older);
        await balancer.untilReady(newer);
        await load.untilMore(20);
        older = await start();
        await balancer.untilReady(older, newer);
        await stop(newer);
        await balancer.untilReady(older);
        await load.untilMore(20);
      }
      const { failures, requests, written } = await load.end();
      if (rounds > 1)
        console.info(`${rounds} rounds: ${requests} requests, ${failures.length} failed, ${written} rows written`);
      expect(failures).toEqual([]);
      expect(await opened.store.readTenant(load.tenant, checkCounts)).toEqual({ rows: written, problems: [] });
    },
    300_000 * rounds,
  );
});

/** Readers of tokens and reports, and a writer, until stopped. */
interface Load {
  readonly tenant: TenantId;
  begin(): void;
  /** Resolves when that many more requests have succeeded. */
  untilMore(count: number): Promise<void>;
  end(): Promise<{ readonly failures: readonly string[]; readonly requests: number; readonly written: number }>;
}

async function startLoad(store: Store, url: string): Promise<Load> {
  const tenant = await addTenant(store, 'acme');
  const client = await createClient(store, 1, { tenant });
  const failures: string[] = [];
  let [requests, written, isOver] = [0, 0, false];
  const ask = async (path: string, init?: RequestInit): Promise<Response> => {
    const response = await fetch(url + path, init);
    requests += 1;
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  const read = async (): Promise<void> => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...client });
    const { access_token: token } = (await (await ask('/oauth2/token', { method: 'POST', body })).json()) as Record<
      string,
      string
    >;
    const headers = { authorization: `Bearer ${token}` };
    for (let page = 0; page < 5; page += 1)
      await (await ask('/connect-api/v1/subscription?size=5', { headers })).json();
  };
  const write = async (): Promise<void> => {
    await store.loadSubscriptions(tenant, [subscriptionRow({ id: `id${written}`, createdDate: written })]);
    written += 1;
  };
  const repeat = async (work: () => Promise<void>): Promise<void> => {
    while (!isOver) {
      await work().catch((error: unknown) => failures.push(`${error} ${(error as Error).cause ?? ''}`));
      await sleep(50);
    }
  };
  await write();
  let working: Promise<unknown> = Promise.resolve();
  return {
    tenant,
    begin() {
      working = Promise.all([read, read, read, write].map(repeat));
    },
    async untilMore(count) {
      for (const wanted = requests + count; requests < wanted; ) await sleep(20);
    },
    async end() {
      isOver = true;
      await working;
      return { failures, requests, written };
    },
  };
}
