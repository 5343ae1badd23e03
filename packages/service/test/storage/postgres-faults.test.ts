import { Readable } from 'node:stream';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { onCluster, openPostgres, postgresUrl, type TestStore } from '../../../../test/support/engines.ts';
import { testRole, urlOf } from '../../../../test/support/global-setup.ts';
import { testKeyRing } from '../../../../test/support/key-ring.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { planNextKey } from '../../auth/keys/rotate-keys.ts';
import { importRecords } from '../../import/import-records.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';
import { openStore } from '../../storage/open-store.ts';
import { countMatching } from '../../storage/read/records.ts';
import { directoryStatement, type TenantId, type TenantStatement } from '../../storage/store.ts';
import { findTenant } from '../../storage/tables/tenant.ts';

const all = { dateColumn: 'created_date' } as const;

describe('when PostgreSQL fails', () => {
  let opened: TestStore;
  let tenant: TenantId;
  let superuser: pg.Client;
  const database = () => new URL(opened.environment.DATABASE_URL ?? '').pathname.slice(1);
  const count = () => opened.store.readTenant(tenant, (reader) => countMatching(reader, all));
  const killBackends = () =>
    superuser.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name = 'subreport'",
      [database()],
    );

  beforeAll(async () => {
    opened = await openPostgres(testRole);
    tenant = await addTenant(opened.store, 'acme');
    superuser = await connectPostgres(await postgresUrl());
  });
  afterAll(async () => {
    await superuser.end();
    await opened.close();
  });

  test('a snapshot waits for its consumer as long as agreed, and its statements have a time limit', async () => {
    const snapshot = await opened.store.openSnapshot(tenant, 600_000);
    const setting = async (name: string) => {
      const [row] = await snapshot.all(`select current_setting('${name}') as value where 'tenant_id = $1' <> $1`);
      return row?.value;
    };
    expect(await setting('idle_in_transaction_session_timeout')).toBe('615s');
    expect(await setting('statement_timeout')).toBe('1min');
    expect(await setting('transaction_isolation')).toBe('repeatable read');
    await snapshot.close();
  });

  test('a connection killed while idle is replaced, and no request fails', async () => {
    expect(await count()).toBe(0);
    await killBackends();
    await expect.poll(count).toBe(0);
  });

  const slow = "select pg_sleep(20) from tenant as t where 'tenant_id = $1' <> $1";
  test.each([
    ['a statement of several', () => opened.store.readTenant(tenant, (reader) => reader.all(slow))],
    ['a whole transaction', () => opened.store.readTenantOnce(tenant, { sql: slow, values: [] })],
  ])('%s whose connection is killed is repeated once on a new connection, and not again', async (_what, read) => {
    const flight = read();
    const failed = expect(flight).rejects.toMatchObject({ name: 'StorageError', code: 'UNAVAILABLE' });
    const pidOfSleeper = async (): Promise<number | undefined> => {
      const { rows } = await superuser.query(
        "select pid from pg_stat_activity where datname = $1 and query like '%pg_sleep(20)%' and state = 'active'",
        [database()],
      );
      return rows[0]?.pid;
    };
    let killed: number | undefined;
    for (let round = 0; round < 2; round += 1) {
      await expect.poll(pidOfSleeper).toSatisfy((pid: number | undefined) => pid !== undefined && pid !== killed);
      killed = await pidOfSleeper();
      await superuser.query('select pg_terminate_backend($1::integer)', [killed]);
    }
    await failed;
    expect(await count()).toBe(0);
  });

  test('a read whose connection is killed while it waits for a lock is repeated and succeeds', async () => {
    const other = await connectPostgres(opened.environment.DATABASE_URL);
    await other.query('begin');
    await other.query('lock table subscription_span');
    const counting = count();
    const kill = async () =>
      (
        await superuser.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'",
          [database()],
        )
      ).rowCount;
    await expect.poll(kill).toBe(1);
    await other.query('rollback');
    await other.end();
    expect(await counting).toBe(0);
  });

  /** Opens the store with few connections. */
  const openSmall = (poolSize: number) =>
    openStore({
      databaseUrl: opened.environment.DATABASE_URL,
      dataDir: '',
      poolSize,
      onConnectionError: () => undefined,
    });

  test('a statement that exceeds the deadline frees its connection at once, without a rollback', async () => {
    const store = openSmall(1);
    const soon = performance.now() + 200;
    await expect(store.within(soon).readTenant(tenant, (reader) => reader.all(slow))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('before the deadline'),
    });
    // the first connection still sleeps
    expect(await store.readDirectory('select 1 as one')).toEqual([{ one: 1 }]);
    await expect(store.within(performance.now()).readDirectory('select 1 as one')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    await store.close();
  });

  test('a tenant hangs from a missed deadline, or a time-out of the server, until its work finishes in time', async () => {
    const read = (sql: TenantStatement['sql'], ms: number) =>
      opened.store.within(performance.now() + ms).readTenant(tenant, (reader) => reader.all(sql));
    const id = String(tenant);
    expect(opened.store.isHanging?.(id)).toBe(false);
    let failure: unknown;
    read(slow, 60_000).catch((error: unknown) => {
      failure = error;
    });
    const cancel = "select pg_cancel_backend(pid) from pg_stat_activity where datname = $1 and wait_event = 'PgSleep'";
    // the statement of the test before may still sleep, and this one may not yet
    await expect
      .poll(() => superuser.query(cancel, [database()]).then(() => failure))
      .toMatchObject({ code: 'UNAVAILABLE' });
    expect(opened.store.isHanging?.(id)).toBe(true);
    await read("select 1 as one where 'tenant_id = $1' <> $1", 5_000);
    await expect(read(slow, 200)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(opened.store.isHanging?.(id)).toBe(true);
    expect(opened.store.isHanging?.('other')).toBe(false);
    await read("select 1 as one where 'tenant_id = $1' <> $1", 5_000);
    expect(opened.store.isHanging?.(id)).toBe(false);
  });

  /** Runs `work` while a table is locked, and kills its connection once it waits for the lock. */
  async function killAt(table: string, application: string, work: () => Promise<unknown>): Promise<void> {
    const other = await connectPostgres(opened.environment.DATABASE_URL);
    await other.query('begin');
    await other.query(`lock table ${table} in exclusive mode`);
    const failed = expect(work()).rejects.toMatchObject({ name: 'StorageError', code: 'UNAVAILABLE' });
    const kill = async () =>
      (
        await superuser.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where datname = $1 and application_name = $2 and wait_event_type = 'Lock'`,
          [database(), application],
        )
      ).rowCount;
    await expect.poll(kill).toBe(1);
    await failed;
    await other.query('rollback');
    await other.end();
  }
  const revision = async () => (await findTenant(opened.store, 'acme'))?.revision;

  test('a load whose connection is killed half-way writes nothing, and no other operation fails', async () => {
    const before = await revision();
    for (const table of ['subscription_span', 'subscription'])
      await killAt(table, 'subreport', () => opened.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'half' })]));
    expect([await count(), await revision()]).toEqual([0, before]);
  });

  test('a write whose connection is killed fails, and does not run again', async () => {
    const createdAt = async () => (await findTenant(opened.store, 'acme'))?.createdAt;
    const before = await createdAt();
    await killAt('tenant', 'subreport', () =>
      opened.store.writeDirectory([
        directoryStatement('update tenant set created_at = created_at + 1 where id = $1', ['acme']),
      ]),
    );
    expect(await createdAt()).toBe(before);
  });

  test('a replacement whose connection is killed while it writes changes nothing', async () => {
    const before = await revision();
    const replacement = await opened.store.openStagedLoad(tenant);
    await replacement.add([subscriptionRow({ id: 'new' })]);
    await killAt('subscription_span', 'subreport-replace', () => replacement.finish(false));
    await replacement.close();
    expect([await count(), await revision()]).toEqual([0, before]);
  });

  test.skipIf(onCluster)('an import whose batch is the victim of a deadlock loads it again (C1)', async () => {
    const own = await addTenant(opened.store, 'deadlock');
    const [row] = syntheticRows({ count: 1, seed: 1, until: 1_767_225_600 });
    const load = (status: string) =>
      importRecords(opened.store, own, Readable.from([Buffer.from(JSON.stringify({ ...row, status }))]), {
        format: 'ndjson',
        dryRun: false,
        onRejected: () => undefined,
      });
    await load('ACTIVE');
    const other = new pg.Client({
      connectionString: urlOf(opened.environment.DATABASE_URL ?? '', database(), 'postgres'),
    });
    await other.connect();
    // so that the import is the one that detects it
    await other.query("set deadlock_timeout = '60s'");
    await other.query('begin');
    await other.query("update subscription set revision = revision where tenant_id = 'deadlock'");
    const loading = load('DEPLETED');
    await expect
      .poll(
        async () =>
          (
            await superuser.query(
              "select 1 from pg_stat_activity where datname = $1 and application_name = 'subreport' and wait_event_type = 'Lock'",
              [database()],
            )
          ).rowCount,
      )
      .toBe(1);
    await other.query("select id from tenant where id = 'deadlock' for update");
    await other.query('commit');
    expect(await loading).toMatchObject({ read: 1, updated: 1 });
    await other.end();
  });

  describe('a rotation of a compromised key whose lock is not free in time', () => {
    /** Rotates a key while another session holds a lock on the keys, until the attempt `freeAt`. */
    const rotate = async (freeAt: number) => {
      const add = await planNextKey(
        testKeyRing(opened.store, () => 1_780_000_000),
        'access',
        'compromised',
      );
      const holder = await connectPostgres(opened.environment.DATABASE_URL);
      await holder.query('begin; lock table auth_key in exclusive mode');
      let attempts = 0;
      const rotating = opened.store.transact(async (directory) => {
        attempts += 1;
        if (attempts === freeAt) await holder.query('rollback');
        await directory.readDirectory("select set_config('lock_timeout', '200ms', true)");
        return add(directory);
      });
      const result = await rotating.catch((error: unknown) => error);
      await holder.end();
      return { attempts, result };
    };

    test('is tried again, and succeeds once the lock is free', async () => {
      expect(await rotate(3)).toMatchObject({ attempts: 3, result: { purpose: 'access', state: 'current' } });
    });

    test('ends after three attempts with a sentence that says how to find the holder', async () => {
      const { attempts, result } = await rotate(4);
      const message = expect.stringContaining('no other session may hold the lock for so long: pg_blocking_pids()');
      expect([attempts, result]).toEqual([3, expect.objectContaining({ code: 'BUSY', message })]);
    });
  });

  test('a load waits for a tenant whose row is locked by another transaction, then succeeds', async () => {
    const other = await connectPostgres(opened.environment.DATABASE_URL);
    await other.query('begin');
    await other.query("select id from tenant where id = 'acme' for update");
    const load = opened.store.loadSubscriptions(tenant, []);
    await other.query('commit');
    expect(await load).toEqual({ inserted: 0, updated: 0, unchanged: 0 });
    await other.end();
  });

  test('a pool without a free connection is UNAVAILABLE after its timeout, and does not hang', async () => {
    const store = openSmall(1);
    const waits: number[] = [];
    store.observePoolWaits?.((seconds) => waits.push(seconds));
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const taken = Promise.withResolvers<void>();
    const holder = store.readTenant(tenant, () => {
      taken.resolve();
      return held;
    });
    await taken.promise;
    await expect(store.within(performance.now() + 100).readDirectory('select 1 as one')).rejects.toMatchObject({
      name: 'StorageError',
      code: 'UNAVAILABLE',
    });
    expect(waits).toHaveLength(2);
    expect(waits[1]).toBeGreaterThan(0.09); // it gave up
    release();
    await holder;
    expect(await store.readDirectory('select 1 as one')).toEqual([{ one: 1 }]);
    await store.close();
  });
});
