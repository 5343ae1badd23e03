import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createAuditLog } from '../../packages/service/audit/audit-log.ts';
import type { OperatorContext } from '../../packages/service/operator/perform.ts';
import { createTenant } from '../../packages/service/operator/tenants.ts';
import { nowSeconds } from '../../packages/service/storage/now-seconds.ts';
import { openStore } from '../../packages/service/storage/open-store.ts';
import type { Store, TenantId } from '../../packages/service/storage/store.ts';
import { findTenant, insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { type CutConnection, openCutConnection } from '../support/cut-connection.ts';
import { createDatabase, dropDatabase } from '../support/databases.ts';
import { postgresUrl } from '../support/engines.ts';
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

const codeOf = (error: unknown) => (error as { code?: string }).code;

describe.skipIf(!inject('isCluster'))('a connection that is lost at a commit on a cluster', () => {
  const database = `subreport_cut_${process.pid}`;
  /** The ways from the service to the coordinator, and from the coordinator to all workers. */
  let ways: { readonly coordinator: CutConnection; readonly workers: readonly CutConnection[] };
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
  /** What a read by another process shows: the revision, and the records. */
  const shown = (tenant: TenantId): Promise<unknown> =>
    (other as Store).readTenant(tenant, async (reader) => [
      await reader.all('select revision from (select id as tenant_id, revision from tenant) as t where tenant_id = $1'),
      await reader.all('select id, status from subscription where tenant_id = $1 order by id'),
    ]);
  const operator = (): OperatorContext => {
    const audit = createAuditLog({ store: store as Store, now: nowSeconds, write: () => undefined });
    return {
      store: store as Store,
      now: nowSeconds,
      audit,
      actor: { kind: 'command', user: 'test' },
      onUnrecorded: () => undefined,
    };
  };
  const cutAt = (where: 'coordinator' | 'workers', statement: string, point: 'before' | 'reply') => {
    const cut = where === 'coordinator' ? [ways.coordinator] : ways.workers;
    for (const way of cut) way.cutAt(statement, point);
    return () => cut.map((way) => way.wasCut()).includes(true);
  };

  beforeAll(async () => {
    const url = await postgresUrl();
    const superuser = urlOf(url, database, 'postgres');
    await createDatabase(url, database, { owner: testRole });
    const direct = urlOf(url, database, testRole);
    const open = (databaseUrl: string) =>
      openStore({ databaseUrl, dataDir: '', poolSize: 4, onConnectionError: () => undefined });
    other = open(direct);
    await other.migrate();
    const nodes = await query(superuser, 'select nodeid, nodename, nodeport from pg_dist_node where groupid <> 0');
    const workers = await Promise.all(
      nodes.map(({ nodename, nodeport }) => openCutConnection(`postgres://${nodename}:${nodeport}`)),
    );
    for (const [index, { nodeid }] of nodes.entries())
      await query(superuser, `select citus_update_node(${nodeid}, '127.0.0.1', ${workers[index]?.port})`);
    await query(superuser, 'select start_metadata_sync_to_all_nodes()');
    ways = { coordinator: await openCutConnection(direct), workers };
    store = open(ways.coordinator.url);
  });
  afterAll(async () => {
    // through the ways to the workers
    await query(urlOf(await postgresUrl(), database, 'postgres'), 'select recover_prepared_transactions()');
    await store?.close();
    await other?.close();
    for (const way of [ways.coordinator, ...ways.workers]) way.close();
    await dropDatabase(await postgresUrl(), database);
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
    const wasCut = cutAt(where, statement, point);
    const result = await (changes[name] as Change)(store as Store, tenant).then(() => 'acknowledged', codeOf);
    const after = await shown(tenant);
    expect([wasCut(), result, JSON.stringify(after) === JSON.stringify(before) ? 'as before' : 'changed']).toEqual(
      point === 'before' ? [true, 'UNAVAILABLE', 'as before'] : [true, 'acknowledged', 'changed'],
    );
  });

  test.each(cuts)('a new tenant that may exist is said to be unknown, or what is there: %s, %s, %s', async (...cut) => {
    names += 1;
    const name = `new-${names}`;
    const wasCut = cutAt(...cut);
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
    const wasCut = cutAt('workers', ...cut);
    const result = await store?.writeTenant(tenant, [{ sql: byCopy, values: [] }]).then(() => 'acknowledged', codeOf);
    const [statement] = cut;
    expect([wasCut(), result]).toEqual([true, statement === 'COMMIT PREPARED' ? 'OUTCOME_UNKNOWN' : 'UNAVAILABLE']);
  });
});
