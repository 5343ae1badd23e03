import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { createAuditLog } from '../../packages/service/audit/audit-log.ts';
import { deleteTenant } from '../../packages/service/import/erase-records.ts';
import type { OperatorContext } from '../../packages/service/operator/perform.ts';
import { createTenant } from '../../packages/service/operator/tenants.ts';
import { fillPostgresStore } from '../../packages/service/storage/backup/postgres-restore.ts';
import { removeOldTombstones } from '../../packages/service/storage/commit/statements.ts';
import { removeErasures } from '../../packages/service/storage/maintenance/sweep-history.ts';
import { nowSeconds } from '../../packages/service/storage/now-seconds.ts';
import { openStore } from '../../packages/service/storage/open-store.ts';
import type { Store, TenantId, TenantSql } from '../../packages/service/storage/store.ts';
import { eraseStatements } from '../../packages/service/storage/tables/delete-tenant.ts';
import { beginHistory } from '../../packages/service/storage/tables/history.ts';
import { findTenant, insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { type CutConnection, type CutPoint, openCutConnection } from '../support/cut-connection.ts';
import { createDatabase, dropDatabase } from '../support/databases.ts';
import { openSqlite, postgresUrl } from '../support/engines.ts';
import { testRole, urlOf } from '../support/global-setup.ts';
import { subscriptionRow } from '../support/rows.ts';
import { query } from './start-cluster.ts';

// What is acknowledged, and what a read shows, when a connection is lost at a commit
// (docs/operators/citus.md, Failure of a worker).

type Change = (store: Store, tenant: TenantId) => Promise<unknown>;

const rows = (count: number, status: string) =>
  Array.from({ length: count }, (_, n) => subscriptionRow({ id: `id${n}`, createdDate: n, status }));

/** Changes of a tenant with 20 active records. */
const changes: Readonly<Record<string, Change>> = {
  'a load of new records': (store, tenant) => store.loadSubscriptions(tenant, rows(30, 'ACTIVE')),
  'a load of changes': (store, tenant) => store.loadSubscriptions(tenant, rows(10, 'DEPLETED'), false, 'import-1'),
  'a replacement': async (store, tenant) => {
    const staged = await store.openStagedLoad(tenant);
    try {
      await staged.add(rows(15, 'EXPIRED'));
      await staged.finish(false);
    } finally {
      await staged.close();
    }
  },
  'an erasure': (store, tenant) => store.deleteSubscriptions(tenant, ['id1', 'id2']),
  'a repair': (store, tenant) => store.recountSubscriptions(tenant, 1_700_000_000),
};

const open = (databaseUrl: string): Store =>
  openStore({ databaseUrl, dataDir: '', poolSize: 4, onConnectionError: () => undefined });

/** A migrated database of the cluster, and the ways to its nodes, which can be cut. */
interface Ways {
  readonly direct: string;
  readonly cut: Readonly<Record<'coordinator' | 'workers', readonly CutConnection[]>>;
  /** Returns whether a connection was cut. */
  cutAt(where: keyof Ways['cut'], statement: string, point: CutPoint, after?: string): () => boolean;
  /** Ends the transactions that are prepared still. */
  recover(): Promise<unknown>;
  close(): Promise<void>;
}

let databases = 0;
async function openWays(): Promise<Ways> {
  databases += 1;
  const [server, database] = [await postgresUrl(), `subreport_cut_${process.pid}_${databases}`];
  const [direct, superuser] = [urlOf(server, database, testRole), urlOf(server, database, 'postgres')];
  await createDatabase(server, database, { owner: testRole });
  const store = open(direct);
  await store.migrate().finally(() => store.close());
  const nodes = await query(superuser, 'select nodeid, nodename, nodeport from pg_dist_node where groupid <> 0');
  const workers = await Promise.all(
    nodes.map(({ nodename, nodeport }) => openCutConnection(`postgres://${nodename}:${nodeport}`)),
  );
  for (const [index, { nodeid }] of nodes.entries())
    await query(superuser, `select citus_update_node(${nodeid}, '127.0.0.1', ${workers[index]?.port})`);
  await query(superuser, 'select start_metadata_sync_to_all_nodes()');
  const cut = { coordinator: [await openCutConnection(direct)], workers };
  const recover = () => query(superuser, 'select recover_prepared_transactions()');
  return {
    ...{ direct, cut, recover },
    cutAt(where, statement, point, after) {
      for (const way of cut[where]) way.cutAt(statement, point, after);
      return () => cut[where].map((way) => way.wasCut()).includes(true);
    },
    async close() {
      await recover(); // through the ways
      for (const way of Object.values(cut).flat()) way.close();
      await dropDatabase(server, database);
    },
  };
}

const codeOf = (error: unknown) => (error as { code?: string }).code;

describe.skipIf(!inject('isCluster'))('a connection that is lost at a commit on a cluster', () => {
  let ways: Ways;
  let [store, other]: Store[] = [];
  let names = 0;

  const makeTenant = async (): Promise<TenantId> => {
    names += 1;
    const name = `cut-${names}`;
    await insertTenant(other as Store, name, 1);
    const tenant = (await findTenant(other as Store, name))?.tenant as TenantId;
    await other?.loadSubscriptions(tenant, rows(20, 'ACTIVE'));
    return tenant;
  };
  /** What a read shows, of another process by default: the revision, and the records. */
  const shown = (tenant: TenantId, by = other): Promise<unknown> =>
    (by as Store).readTenant(tenant, async (reader) => [
      await reader.all('select revision from (select id as tenant_id, revision from tenant) as t where tenant_id = $1'),
      await reader.all('select id, status from subscription where tenant_id = $1 order by id'),
    ]);
  const operator = (): OperatorContext => {
    const audit = createAuditLog({ store: store as Store, now: nowSeconds, write: () => undefined });
    const parts = { actor: { kind: 'command', user: 'test' }, onUnrecorded: () => undefined } as const;
    return { ...parts, store: store as Store, now: nowSeconds, audit };
  };

  beforeAll(async () => {
    ways = await openWays();
    [store, other] = [open(ways.cut.coordinator[0]?.url ?? ''), open(ways.direct)];
  });
  afterAll(async () => {
    await store?.close();
    await other?.close();
    await ways.close();
  });

  const cuts = [
    ['coordinator', 'commit', 'before'],
    ['coordinator', 'commit', 'reply'],
    ['workers', 'COMMIT', 'before'],
    ['workers', 'COMMIT', 'reply'],
  ] as const;
  const cases = Object.keys(changes).flatMap((name) => cuts.map((cut) => [name, ...cut] as const));

  test.each(cases)('%s is acknowledged if it was made: %s, %s, %s', async (name, where, statement, point) => {
    const tenant = await makeTenant();
    const before = await shown(tenant);
    const wasCut = ways.cutAt(where, statement, point);
    const result = await (changes[name] as Change)(store as Store, tenant).then(() => 'acknowledged', codeOf);
    const after = await shown(tenant);
    expect([wasCut(), result, JSON.stringify(after) === JSON.stringify(before) ? 'as before' : 'changed']).toEqual(
      point === 'before' ? [true, 'UNAVAILABLE', 'as before'] : [true, 'acknowledged', 'changed'],
    );
  });

  test.each(cuts)('a read returns its rows although its connection is lost: %s, %s, %s', async (...cut) => {
    const tenant = await makeTenant();
    const [before, wasCut] = [await shown(tenant), ways.cutAt(...cut)];
    expect([await shown(tenant, store), wasCut()]).toEqual([before, true]);
  });

  test.each(cuts)('a new tenant that may exist is said to be unknown, or what is there: %s, %s, %s', async (...cut) => {
    names += 1;
    const name = `new-${names}`;
    const wasCut = ways.cutAt(...cut);
    const result = await createTenant(operator(), name).then(() => 'acknowledged', codeOf);
    const exists = (await findTenant(other as Store, name)) !== undefined;
    const [where, , point] = cut;
    expect([wasCut(), exists]).toEqual([true, point === 'reply']);
    expect(result).toBe(where === 'workers' ? 'OUTCOME_UNKNOWN' : point === 'reply' ? 'acknowledged' : 'UNAVAILABLE');
    const again = await createTenant(operator(), name).then(({ tenant }) => tenant, String);
    expect(again).toContain(exists ? `'${name}', created at` : name);
  });

  const prepared = ['PREPARE TRANSACTION', 'COMMIT PREPARED'].flatMap((statement) => [
    [statement, 'before'] as const,
    [statement, 'reply'] as const,
  ]);
  // rows without a distributed table, which Citus sends by COPY
  const byCopy = `insert into subscription_tombstone (tenant_id, id, revision)
    select $1, id, 1 from unnest(array['gone']) as r (id) where 'tenant_id = $1' <> $1 on conflict do nothing` as const;
  test.each(prepared)('a transaction whose node does not confirm it is not acknowledged: %s, %s', async (...cut) => {
    const tenant = await makeTenant();
    const wasCut = ways.cutAt('workers', ...cut);
    const result = await store?.writeTenant(tenant, [{ sql: byCopy, values: [] }]).then(() => 'acknowledged', codeOf);
    const [statement] = cut;
    expect([wasCut(), result]).toEqual([true, statement === 'COMMIT PREPARED' ? 'OUTCOME_UNKNOWN' : 'UNAVAILABLE']);
  });

  const countOf = async (tenant: TenantId, sql: TenantSql) =>
    Number((await other?.readTenantOnce(tenant, { sql, values: [] }))?.[0]?.n);
  /** Changes that remove all rows of a tenant that a statement counts, some in several steps. */
  const removals = {
    'a deletion of a tenant': {
      run: (store, tenant) => deleteTenant(store, tenant, nowSeconds),
      rows: 'select count(*) as n from subscription where tenant_id = $1',
      statement: eraseStatements[1],
    },
    'a sweep of tombstones': {
      run: (store, tenant) => store.sweepTombstones(tenant, 99, 100),
      rows: 'select count(*) as n from subscription_tombstone where tenant_id = $1',
      statement: removeOldTombstones,
    },
    'a sweep of the history': {
      run: (store, tenant) => store.sweepHistory(tenant, { oldest: 99, fromSeconds: 1, keeps: true }, 100),
      rows: 'select count(*) as n from subscription_version where tenant_id = $1',
      statement: removeErasures,
    },
  } satisfies Record<string, { run: Change; rows: TenantSql; statement: string | undefined }>;
  const ofRemovals = (Object.keys(removals) as (keyof typeof removals)[]).flatMap((name) =>
    cuts.map((cut) => [name, ...cut] as const),
  );

  test.each(ofRemovals)(
    '%s is acknowledged only if it was made, and can be repeated: %s, %s, %s',
    async (name, ...cut) => {
      const { run, rows: counted, statement } = removals[name];
      const tenant = await makeTenant();
      await other?.loadSubscriptions(tenant, rows(10, 'DEPLETED'));
      await other?.deleteSubscriptions(tenant, ['id15']);
      const wasCut = ways.cutAt(...cut, cut[0] === 'coordinator' ? statement : undefined);
      const result = await run(store as Store, tenant).then(() => 'acknowledged', codeOf);
      expect(wasCut()).toBe(true);
      expect(['acknowledged', 'UNAVAILABLE', 'OUTCOME_UNKNOWN']).toContain(result);
      if (result === 'acknowledged') expect(await countOf(tenant, counted)).toBe(0);
      await run(store as Store, tenant);
      expect(await countOf(tenant, counted)).toBe(0);
    },
  );

  test('a restore, and a new history of all tenants, are acknowledged only once all nodes have confirmed them', async () => {
    const own = await openWays();
    onTestFinished(() => own.close());
    const [url = '', source] = [own.cut.coordinator[0]?.url, await openSqlite()];
    onTestFinished(() => source.close());
    for (let n = 0; n < 10; n += 1) await insertTenant(source.store, `restored-${n}`, 1);
    const file = join(source.environment.DATA_DIR ?? '', 'subreport.db');
    const attempt = async (work: () => Promise<unknown>, ...cut: Parameters<Ways['cutAt']>) => {
      const wasCut = own.cutAt(...cut);
      const result = await work().then(() => 'acknowledged', codeOf);
      expect([wasCut(), result]).toEqual([true, 'OUTCOME_UNKNOWN']);
    };
    // which needs an empty database, so the first two were not made
    const restore = () => fillPostgresStore(url, file, () => undefined);
    await attempt(restore, 'workers', 'PREPARE TRANSACTION', 'before');
    await attempt(restore, 'coordinator', 'commit', 'before');
    await attempt(restore, 'workers', 'COMMIT PREPARED', 'before');
    await own.recover();
    const restored = open(url);
    onTestFinished(() => restored.close());
    await attempt(() => beginHistory(restored, 1_700_000_000), 'workers', 'COMMIT PREPARED', 'before');
    await own.recover();
    expect(await query(own.direct, 'select id from tenant where revision > 0')).toHaveLength(10);
  });
});
