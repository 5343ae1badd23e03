import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SharedConnection } from '../../src/storage/postgres/shared-connection.ts';
import type { TenantId, TenantStatement } from '../../src/storage/store.ts';
import { findTenant, insertTenant } from '../../src/storage/tables/tenant.ts';
import { onCluster, openPostgres, postgresUrl, type TestStore } from '../support/engines.ts';
import { testRole } from '../support/global-setup.ts';

// on Citus, each read has a connection of its own
describe.skipIf(onCluster)('short reads that start in the same turn of the event loop on PostgreSQL', () => {
  let opened: TestStore;
  let superuser: pg.Client;
  let tenants: readonly TenantId[];

  beforeAll(async () => {
    opened = await openPostgres(testRole);
    superuser = new pg.Client({ connectionString: await postgresUrl() });
    await superuser.connect();
    tenants = [await createTenant()];
    await read(0); // the facts of the database are known from now on
  });
  beforeEach(async () => {
    // new ones: a tenant whose read took long on a slow machine shares no connection
    tenants = [await createTenant(), await createTenant(), await createTenant()];
  });
  afterAll(async () => {
    await superuser.end();
    await opened.close();
  });

  let created = 0;
  async function createTenant(): Promise<TenantId> {
    created += 1;
    await insertTenant(opened.store, `tenant-${created}`, 1);
    return (await findTenant(opened.store, `tenant-${created}`))?.tenant as TenantId;
  }

  const backend =
    "select pg_backend_pid() as pid, current_setting('app.tenant') as tenant where 'tenant_id = $1' <> $1";
  const read = async (index: number, sql: TenantStatement['sql'] = backend, store = opened.store) => {
    const [rows] = await store.readTenantOnce(tenants[index % 3] as TenantId, [{ sql, values: [] }], {
      isBounded: true,
    });
    return rows?.[0];
  };

  test('share a connection, each with its own tenant', async () => {
    const rows = await Promise.all([0, 1, 2].map((index) => read(index)));
    expect(rows.map((row) => row?.tenant)).toEqual(tenants);
    expect(new Set(rows.map((row) => row?.pid)).size).toBe(1);
    expect(opened.store.poolUse?.()?.busy).toBe(0);
  });

  test('use a second connection from the ninth on, and none that a longer read uses', async () => {
    const long = opened.store.readTenantOnce(tenants[0] as TenantId, [{ sql: backend, values: [] }]);
    const rows = await Promise.all(Array.from({ length: 9 }, (_, index) => read(index)));
    const pids = rows.map((row) => row?.pid);
    expect(new Set(pids.slice(0, 8)).size).toBe(1);
    expect(new Set(pids).size).toBe(2);
    expect(pids).not.toContain((await long)[0]?.[0]?.pid);
  });

  test('return their rows although another one fails', async () => {
    const failing = "select 1 / (length($1) - length($1)) as none where 'tenant_id = $1' <> $1";
    const [failed, ...others] = await Promise.allSettled([read(0, failing), read(1), read(2)]);
    expect(failed).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
    expect(others).toMatchObject([1, 2].map((index) => ({ value: { tenant: tenants[index] } })));
    expect(opened.store.poolUse?.()).toMatchObject({ busy: 0, waiting: 0 });
  });

  test('return their rows although another one misses its deadline', async () => {
    const slow = "select pg_sleep(20) where 'tenant_id = $1' <> $1";
    const hurried = opened.store.within(performance.now() + 500);
    const [failed, ...others] = await Promise.allSettled([read(0, slow, hurried), read(1), read(2)]);
    expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'UNAVAILABLE' } });
    expect(others).toMatchObject([1, 2].map((index) => ({ value: { tenant: tenants[index] } })));
  });

  const sleeping = (seconds: number): TenantStatement['sql'] =>
    `select pg_backend_pid() as pid, pg_sleep(${seconds}) where 'tenant_id = $1' <> $1`;
  const alone = async (index: number) => {
    const [rows] = await opened.store.readTenantOnce(tenants[index] as TenantId, [{ sql: sleeping(0.1), values: [] }]);
    return rows?.[0]?.pid;
  };

  test('are repeated on connections that exist already after another one failed', async () => {
    const known = await Promise.all([0, 1, 2].map(alone));
    const failing = "select 1 / length(cast(pg_sleep(0.02) as text)) as none where 'tenant_id = $1' <> $1";
    const [failed, ...others] = await Promise.all([
      read(0, failing).catch((error: { code?: string }) => error.code),
      read(1, sleeping(0.04)),
      read(2, sleeping(0.04)),
    ]);
    expect(failed).toBe('22012');
    for (const row of others) expect(known).toContain(row?.pid);
  });

  test('that miss a deadline behind another one leave their tenants all connections', async () => {
    const within = (ms: number) => opened.store.within(performance.now() + ms);
    const reads = await Promise.allSettled([read(0, sleeping(20), within(1_000)), read(1, backend, within(300))]);
    expect(reads).toMatchObject([{ reason: { code: 'UNAVAILABLE' } }, { reason: { code: 'UNAVAILABLE' } }]);
    const [first, second] = await Promise.all([alone(1), alone(1)]);
    expect(first).not.toBe(second);
  });

  test('share no connection with a tenant whose last read was slow', async () => {
    await read(2, sleeping(0.1));
    const [slow, ...others] = await Promise.all([read(2), read(0), read(1)]);
    expect(others[0]?.pid).toBe(others[1]?.pid);
    expect(slow?.pid).not.toBe(others[0]?.pid);
  });

  test('return their rows although the statement that another one prepares for all is cancelled', async () => {
    const database = new URL(opened.environment.DATABASE_URL ?? '').pathname.slice(1);
    const locking = new pg.Client({ connectionString: opened.environment.DATABASE_URL });
    await locking.connect();
    await locking.query('begin');
    await locking.query('lock table subscription_span');
    const counting = 'select count(*) as spans from subscription_span where tenant_id = $1';
    const reads = Promise.allSettled([read(0, counting), read(1, counting)]);
    const cancel = async () => {
      const { rows } = await superuser.query(
        "select pg_cancel_backend(pid) from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'",
        [database],
      );
      return rows.length;
    };
    await expect.poll(cancel).toBe(1);
    await locking.query('rollback');
    await locking.end();
    expect(await reads).toMatchObject([
      { status: 'rejected', reason: { code: 'UNAVAILABLE' } },
      { value: { spans: 0 } },
    ]);
  });

  test('that give up before they have a connection leave it to others', async () => {
    const pool = new pg.Pool({
      connectionString: opened.environment.DATABASE_URL,
      max: 1,
      connectionTimeoutMillis: 5_000,
    });
    const busy = await pool.connect();
    const shared = new SharedConnection(pool.connect());
    const givenUp = shared.join(
      () => Promise.reject(new Error('too late')),
      () => undefined,
    );
    await expect(givenUp).rejects.toThrow('too late');
    busy.release();
    const next = await pool.connect();
    next.release();
    await pool.end();
  });
});
