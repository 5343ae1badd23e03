import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { engines, onCluster, openPostgres, type TestStore } from '../../../../test/support/engines.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { readDescribedChanges } from '../../storage/read/changes.ts';
import {
  countErased,
  countPast,
  findRevision,
  readPastRecord,
  readVersions,
  type SettledMoment,
  streamPast,
  summarisePast,
} from '../../storage/read/past.ts';
import { countMatching, readRecord } from '../../storage/read/records.ts';
import type { Store, TenantId, TenantReader, TenantSql } from '../../storage/store.ts';
import { readHistory } from '../../storage/tables/history.ts';
import { putRejections } from '../../storage/tables/import-history.ts';

const all = { dateColumn: 'created_date' } as const;

/** Creates two tenants with the same ids and different records. */
async function loadTwoTenants(store: Store): Promise<[TenantId, TenantId]> {
  const tenants: TenantId[] = [];
  for (const name of ['acme', 'globex']) {
    const tenant = await addTenant(store, name);
    const rows = ['same', `only-${name}`].map((id) => subscriptionRow({ id, record: `{"of":"${name}"}` }));
    await store.loadSubscriptions(tenant, rows);
    tenants.push(tenant);
  }
  return tenants as [TenantId, TenantId];
}

/** Leaves a former version of one record, and the erasure of another. */
async function changeAndErase(store: Store, tenant: TenantId): Promise<void> {
  for (const status of ['ACTIVE', 'DEPLETED', 'EXPIRED'])
    await store.loadSubscriptions(
      tenant,
      ['same', `only-${tenant}`, 'erased'].map((id) =>
        subscriptionRow({ id, record: `{"of":"${tenant}","status":"${status}"}`, status }),
      ),
    );
  await store.deleteSubscriptions(tenant, ['erased']);
}

/** The third revision of the tenant, as each kind of read of the past has it. */
async function readPast(store: Store, tenant: TenantId, idOfOther: string) {
  const past = { revision: 3, current: 5 };
  const snapshot = await store.openSnapshot(tenant, 1_000);
  const order = { column: 'created_date', descending: false } as const;
  const lines = await Array.fromAsync(streamPast(snapshot, all, order, past, 1), (batch) => String(batch.lines));
  await snapshot.close();
  return store.readTenant(tenant, async (reader) => ({
    lines,
    record: await readPastRecord(reader, 'same', 3),
    ofOther: await readPastRecord(reader, idOfOther, 3),
    erased: await countErased(reader, past),
    total: await countPast(reader, all, past),
    summed: (await summarisePast(reader, { filter: all, columns: ['status'] }, past)).total,
    versions: await readVersions(reader, 'same', 0, 20),
    changes: await readDescribedChanges(
      reader,
      { after: { revision: 4, id: '' }, newestFirst: false, limit: 20 },
      { base: 3, began: 4 },
    ),
  }));
}

/** A statement that forgot its tenant: it contains the required words, but matches every row. */
const readsEverything = (reader: TenantReader) =>
  reader.all('select tenant_id, id, record from subscription where tenant_id = $1 or 1 = 1');

describe.each(engines)('two tenants on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let acme: TenantId;
  let globex: TenantId;
  beforeAll(async () => {
    opened = await openTestStore();
    [acme, globex] = await loadTwoTenants(opened.store);
  });
  afterAll(() => opened.close());

  test('each read their own record under an id that both have', async () => {
    expect(await opened.store.readTenant(acme, (reader) => readRecord(reader, 'same'))).toBe('{"of":"acme"}');
    expect(await opened.store.readTenant(globex, (reader) => readRecord(reader, 'same'))).toBe('{"of":"globex"}');
  });

  test("neither reads an id that only the other has, nor counts the other's records", async () => {
    expect(await opened.store.readTenant(acme, (reader) => readRecord(reader, 'only-globex'))).toBeUndefined();
    expect(await opened.store.readTenant(acme, (reader) => countMatching(reader, all))).toBe(2);
  });

  test('many concurrent requests of both on few connections never mix their records', async () => {
    const reads = Array.from({ length: 60 }, (_, index) => {
      const tenant = index % 2 === 0 ? acme : globex;
      return opened.store.readTenant(tenant, async (reader) => [tenant, await readRecord(reader, 'same')] as const);
    });
    for (const [tenant, record] of await Promise.all(reads)) expect(record).toBe(`{"of":"${tenant}"}`);
  });

  test('the history of one has no version, commit or erasure of the other', async () => {
    for (const tenant of [acme, globex]) await changeAndErase(opened.store, tenant);
    await opened.store.loadSubscriptions(acme, [subscriptionRow({ id: 'new' })]);
    for (const [tenant, other] of [
      [acme, globex],
      [globex, acme],
    ] as const) {
      const past = await readPast(opened.store, tenant, `only-${other}`);
      expect(JSON.stringify(past)).toContain(tenant);
      expect(JSON.stringify(past)).not.toContain(other);
      expect(past).toMatchObject({ ofOther: undefined, erased: 1, total: 2, summed: 2 });
      expect(past.lines).toHaveLength(2);
      expect(past.versions.map(({ revision }) => revision)).toEqual([4, 3, 2, 1]);
      expect(past.changes.map(({ id }) => id).slice(0, 3)).toEqual([`only-${tenant}`, 'same', 'erased']);
    }
  });

  test('an instant means the last commit of the tenant, not of the other', async () => {
    const history = await opened.store.readTenant(globex, readHistory);
    const lastSeconds = (history.kept?.lastSeconds ?? 0) + 100; // so the commits are read
    const later = { ...history, kept: { from: 0, fromSeconds: 0, ...history.kept, lastSeconds } };
    const found = await opened.store.readTenant(globex, (reader) =>
      findRevision(reader, later, { seconds: lastSeconds - 1 } as SettledMoment),
    );
    expect(found?.revision).toBe(5);
  });
});

describe.each([
  ['the role that owns the tables', testRole],
  ['a superuser, who bypasses row-level security without switching roles', 'postgres'],
])('row-level security on postgres as %s', (_title, role) => {
  let opened: TestStore;
  let acme: TenantId;
  beforeAll(async () => {
    opened = await openPostgres(role);
    // as a superuser this also creates the role that transactions switch to
    await opened.store.migrate();
    [acme] = await loadTwoTenants(opened.store);
  });
  afterAll(() => opened.close());

  test('limits a statement that forgot its tenant to one tenant', async () => {
    const rows = await opened.store.readTenant(acme, readsEverything);
    expect(rows.map((row) => row.tenant_id)).toEqual(['acme', 'acme']);
  });

  test('limits such a statement that is read at once', async () => {
    const sql = "select tenant_id, current_setting('role') as role from subscription where tenant_id = $1 or 1 = 1";
    const statement = { sql, values: [] } as const;
    const own = { tenant_id: 'acme', role: role === 'postgres' ? 'subreport_tenant' : 'none' };
    for (const isBounded of [true, false]) {
      expect(await opened.store.readTenantOnce(acme, statement, { isBounded })).toEqual([own, own]);
    }
  });

  test('limits such a statement in a snapshot, and in its stream', async () => {
    const snapshot = await opened.store.openSnapshot(acme, 1_000);
    const sql = 'select tenant_id from subscription where tenant_id = $1 or 1 = 1';
    const batches = await Array.fromAsync(snapshot.streamLines(sql, [], 1), ({ lines }) => String(lines));
    expect((await readsEverything(snapshot)).map((row) => row.tenant_id)).toEqual(['acme', 'acme']);
    await snapshot.close();
    expect(batches).toEqual(['acme\n', 'acme\n']);
  });

  test.each(['subscription_version', 'subscription_commit', 'subscription_erasure', 'subscription_tombstone'])(
    'limits such a statement about the history: %s',
    async (table) => {
      const [, globex] = await loadTwoTenants(opened.store);
      for (const tenant of [acme, globex]) await changeAndErase(opened.store, tenant);
      const sql = `select distinct tenant_id from ${table} where tenant_id = $1 or 1 = 1` as TenantSql;
      const rows = await opened.store.readTenant(acme, (reader) => reader.all(sql));
      expect(rows).toEqual([{ tenant_id: 'acme' }]);
    },
  );

  test('limits such a statement about rejected rows of imports', async () => {
    const [, globex] = await loadTwoTenants(opened.store);
    for (const tenant of [acme, globex]) await putRejections(opened.store, tenant, 'import-1', `{"of":"${tenant}"}`);
    const sql = 'select tenant_id from import_rejection where tenant_id = $1 or 1 = 1';
    const rows = await opened.store.readTenant(acme, (reader) => reader.all(sql));
    expect(rows).toEqual([{ tenant_id: 'acme' }]);
    const change = {
      sql: 'delete from import_rejection where tenant_id = $1 or 1 = 1 returning tenant_id',
      values: [],
    } as const;
    expect(await opened.store.writeTenant(acme, [change])).toEqual([[{ tenant_id: 'acme' }]]);
  });

  test('is the only limit: without the policy, the same statement reads both tenants', async () => {
    const client = await connectPostgres(opened.environment.DATABASE_URL);
    try {
      await client.query('alter table subscription disable row level security');
      expect(await opened.store.readTenant(acme, readsEverything)).toHaveLength(4);
      await client.query('alter table subscription enable row level security');
      expect(await opened.store.readTenant(acme, readsEverything)).toHaveLength(2);
    } finally {
      await client.end();
    }
  });

  test('forgets the tenant after the transaction: the next one on the connection sees none of its rows', async () => {
    const settings = () =>
      opened.store.readDirectory(
        `select coalesce(current_setting('app.tenant', true), '') as tenant, current_setting('role') as role,
           current_setting('transaction_read_only') as read_only, current_setting('plan_cache_mode') as plans`,
      );
    const initial = { tenant: '', role: 'none', read_only: 'off', plans: 'auto' };
    await opened.store.readTenant(acme, readsEverything);
    expect(await settings()).toEqual([initial]);
    const sql = 'select id from subscription where tenant_id = $1';
    await opened.store.readTenantOnce(acme, { sql, values: [] }, { isBounded: true });
    expect(await settings()).toEqual([initial]);
  });

  test('prevents writing a row of another tenant', async () => {
    const [, globex] = await loadTwoTenants(opened.store);
    const client = await connectPostgres(opened.environment.DATABASE_URL);
    try {
      await client.query('begin');
      if (role === 'postgres') await client.query('set local role subreport_tenant');
      await client.query('select set_tenant($1)', [acme]);
      const { rowCount } = await client.query('update subscription set record = $2 where tenant_id = $1', [
        globex,
        '{}',
      ]);
      expect(rowCount).toBe(0);
      const move = client.query('update subscription set tenant_id = $1 where id = $2', [globex, 'only-acme']);
      // Citus lets nobody change a tenant_id
      await expect(move).rejects.toMatchObject({ code: onCluster ? '0A000' : '42501' });
    } finally {
      await client.end();
    }
  });
});
