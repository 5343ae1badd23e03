import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkCounts } from '../../packages/service/storage/counts/check.ts';
import { openStore } from '../../packages/service/storage/open-store.ts';
import type { Store, TenantId } from '../../packages/service/storage/store.ts';
import { findTenant, insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { subscriptionRow } from '../support/rows.ts';
import { query as ask } from './start-cluster.ts';

// Runs on the database of TEST_DATABASE_URL if it has the extension citus and at least one worker
// (docs/operators/citus.md). It migrates that database and leaves tenants in it: use one for tests
// only.

const url = process.env.TEST_DATABASE_URL ?? '';
const hasCluster = url !== '' && (await countWorkers()) > 0;
if (!hasCluster)
  console.warn(
    'SKIPPED: test/citus needs TEST_DATABASE_URL to be a database on a Citus coordinator with at least one worker',
  );

async function countWorkers(): Promise<number> {
  const extension = await query("select 1 from pg_extension where extname = 'citus'");
  if (extension.length === 0) return 0;
  return (await query('select 1 from pg_dist_node where isactive and groupid <> 0')).length;
}

function query(sql: string): Promise<Record<string, unknown>[]> {
  return ask(url, sql);
}

describe.skipIf(!hasCluster)('a Citus cluster', () => {
  let store: Store;
  const open = (databaseUrl: string): Store =>
    openStore({ databaseUrl, dataDir: '', poolSize: 4, onConnectionError: () => undefined });
  const makeTenant = async (): Promise<TenantId> => {
    const name = `citus-${crypto.randomUUID()}`;
    await insertTenant(store, name, 1);
    return (await findTenant(store, name))?.tenant as TenantId;
  };
  const rowsFrom = (first: number, count: number) =>
    Array.from({ length: count }, (_, n) => subscriptionRow({ id: `id${first + n}`, createdDate: first + n }));
  beforeAll(async () => {
    store = open(url);
    await store.migrate();
  });
  afterAll(() => store.close());

  test('has the tables of tenants on its workers, distributed by tenant, and those of clients on its coordinator (C2)', async () => {
    const rows = await query(
      "select logicalrelid::text as name, partmethod, column_to_column_name(logicalrelid, partkey) as key from pg_dist_partition where logicalrelid::text in (select relname from pg_class where relnamespace = 'public'::regnamespace)",
    );
    const names = rows.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['tenant', 'subscription', 'subscription_span']));
    for (const local of ['client', 'refresh_family', 'auth_key', 'operator_token', 'audit_entry', 'schema_migration'])
      expect(names).not.toContain(local);
    expect(new Set(rows.map(({ partmethod }) => partmethod))).toEqual(new Set(['h']));
    expect(rows.filter(({ name, key }) => key !== (name === 'tenant' ? 'id' : 'tenant_id'))).toEqual([]);
  });

  test('lets the role of tenant transactions log in to workers, with the options of our sessions (C3, C4)', async () => {
    const role =
      "(select case when rolsuper or rolbypassrls then 'subreport_tenant' else rolname end from pg_roles where rolname = session_user)";
    const [{ role: name } = { role: '' }] = await query(`select ${role} as role`);
    const workers = await query(
      `select result from run_command_on_workers($$select rolcanlogin || ' ' || array_to_string(setconfig, ' ')
         from pg_roles as r join pg_db_role_setting on setrole = r.oid and setdatabase = 0 where rolname = '${name}'$$)`,
    );
    for (const { result } of workers)
      expect(result).toMatch(/^true .*enable_seqscan=off.*enable_bitmapscan=off.*enable_sort=off.*jit=off/);
  });

  test('keeps tenants apart and their counts exact', async () => {
    const [one, other] = [await makeTenant(), await makeTenant()];
    await store.loadSubscriptions(one, rowsFrom(0, 1_500));
    await store.loadSubscriptions(other, rowsFrom(0, 3));
    const everyId = 'select id from subscription where tenant_id = $1 or 1 = 1';
    expect(await store.readTenant(other, (reader) => reader.all(everyId))).toHaveLength(3);
    expect(await store.readTenant(one, checkCounts)).toEqual({ rows: 1_500, problems: [] });
  });

  test('moves a shard while records are written, with row-level security not forced meanwhile (C1)', async () => {
    const tenant = await makeTenant();
    await store.loadSubscriptions(tenant, rowsFrom(0, 1_000));
    const forced = await query(
      'select logicalrelid::text as name from pg_dist_partition join pg_class on oid = logicalrelid where relforcerowsecurity',
    );
    for (const { name } of forced) await query(`alter table ${name} no force row level security`);
    let isMoving = true;
    const moving = moveShardOf(tenant).finally(() => {
      isMoving = false;
    });
    let written = 1_000;
    do {
      await store.loadSubscriptions(tenant, rowsFrom(written, 100));
      written += 100;
    } while (isMoving);
    const moved = await moving;
    for (const { name } of forced) await query(`alter table ${name} force row level security`);
    expect(moved).toBe(true);
    expect(await store.readTenant(tenant, checkCounts)).toEqual({ rows: written, problems: [] });
    const checks = await store.examine();
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    // docs/decisions/storage.md#statistics
    await query('analyze');
    const columns = "select count(*) from pg_stats where tablename ~ '^subscription_' and tablename ~ '_[0-9]+$'";
    const analyzed = await query(
      `select result from run_command_on_workers($$select (${columns}) || ' of ' || count(*) from pg_class where relname ~ '^subscription_' and relname ~ '_[0-9]+$' and relkind = 'r' and reltuples > 0$$)`,
    );
    expect(analyzed.map(({ result }) => String(result))).toEqual(
      analyzed.map(() => expect.stringMatching(/^0 of [1-9]/)),
    );
  });

  test('refuses to migrate on a worker, with an error message (C5)', async () => {
    const [node] = await query('select nodename, nodeport from pg_dist_node where isactive and groupid <> 0 limit 1');
    const worker = new URL(url);
    worker.hostname = String(node?.nodename);
    worker.port = String(node?.nodeport);
    const wrong = open(worker.href);
    await expect(wrong.migrate()).rejects.toMatchObject({
      code: 'UNUSABLE',
      message: expect.stringMatching(/^Cannot migrate: DATABASE_URL must be the coordinator of the Citus cluster/),
    });
    await wrong.close();
  });
});

/** Moves the shard of a tenant to another node; returns `false` if there is no other node. */
async function moveShardOf(tenant: TenantId): Promise<boolean> {
  const [place] = await query(
    `select shardid, nodename, nodeport from citus_shards
     where shardid = get_shard_id_for_distribution_column('subscription', '${tenant}')`,
  );
  const [target] = await query(
    `select nodename, nodeport from pg_dist_node where isactive and shouldhaveshards
     and (nodename, nodeport) <> ('${place?.nodename}', ${place?.nodeport}) limit 1`,
  );
  if (target === undefined) return false;
  await query(
    `select citus_move_shard_placement(${place?.shardid}, '${place?.nodename}', ${place?.nodeport}, '${target.nodename}', ${target.nodeport})`,
  );
  return true;
}
