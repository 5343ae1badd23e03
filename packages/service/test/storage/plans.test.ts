import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { onCluster, openPostgres, openSqlite, type TestStore } from '../../../../test/support/engines.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import { readTexts } from '../../../../test/support/read-page.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { type ReadStatement, watchReads } from '../../../../test/support/watch-reads.ts';
import { openStore } from '../../storage/open-store.ts';
import { plannerOptions } from '../../storage/postgres/session.ts';
import { readChanges, readDescribedChanges } from '../../storage/read/changes.ts';
import type { PageContext } from '../../storage/read/page.ts';
import { numbered } from '../../storage/sqlite/connection.ts';
import type { ReadOptions, TenantId } from '../../storage/store.ts';
import type { SubscriptionFilter } from '../../storage/subscription-filter.ts';
import { insertTenant } from '../../storage/tables/tenant.ts';

/** More than one group of the counts has (32,000): a group has 64 leaves of up to 500 records. */
const records = 36_000;
const statuses = ['ACTIVE', 'DEPLETED', 'EXPIRED'];
const created = { dateColumn: 'created_date' } as const;
const filters: readonly SubscriptionFilter[] = [
  created,
  { ...created, productId: 'product-1' },
  { ...created, statuses: ['EXPIRED'] },
  { ...created, statuses: ['RARE', 'EXPIRED'] },
  { ...created, productId: 'product-1', statuses: ['RARE', 'ACTIVE'] },
  { ...created, afterSeconds: 1_000, beforeSeconds: 11_000 },
  { ...created, productId: 'product-1', statuses: ['ACTIVE', 'EXPIRED'], afterSeconds: 1_000, beforeSeconds: 11_000 },
];

/** One record in five has the same second. Two records far apart have a status of their own. */
async function fill({ store }: TestStore): Promise<TenantId> {
  const tenant = await addTenant(store, 'large');
  for (let start = 0; start < records; start += 5_000) {
    const rows = Array.from({ length: 5_000 }, (_, offset) => {
      const index = start + offset;
      return subscriptionRow({
        id: `id${(index * 7_919) % records}`,
        createdDate: index % 5 === 0 ? 6_000 : Math.floor(index / 3),
        status: index === 100 || index === records - 100 ? 'RARE' : (statuses[index % 3] ?? null),
        productId: `product-${index % 4}`,
        record: 'x'.repeat(300),
      });
    });
    await store.loadSubscriptions(tenant, rows);
  }
  return tenant;
}

/**
 * The statements of changes from the beginning, from the middle of a large revision, and after the
 * last one.
 */
async function recordChangeStatements({ store }: TestStore, tenant: TenantId): Promise<readonly ReadStatement[]> {
  const statements: ReadStatement[] = [];
  await watchReads(store, (each) => statements.push(each)).readTenant(tenant, async (reader) => {
    const behind = [
      { revision: 0, id: '' },
      { revision: 2, id: 'id3' },
      { revision: 4, id: 'id3' },
      { revision: 9, id: '' },
    ];
    const read = [];
    for (const key of behind)
      read.push((await readChanges(reader, { after: key, newestFirst: false, limit: 101 })).length);
    expect(read).toEqual([101, 101, 101, 0]);
  });
  return statements;
}

/** Two revisions that load 5,000 records each, and two that remove half of them. */
async function fillAndRemove({ store }: TestStore): Promise<TenantId> {
  const tenant = await addTenant(store, 'changing');
  const ids = Array.from({ length: 10_000 }, (_, index) => `id${index}`);
  for (const part of [ids.slice(0, 5_000), ids.slice(5_000)])
    await store.loadSubscriptions(
      tenant,
      part.map((id) => subscriptionRow({ id })),
    );
  for (const rest of [0, 1])
    await store.deleteSubscriptions(
      tenant,
      ids.filter((_, index) => index % 4 === rest),
    );
  return tenant;
}

/** A counter of a statement of SQLite; `stat` is missing in the types. */
const statOf = (statement: StatementSync, counter: 'vmStep' | 'reprepare'): number =>
  (statement as unknown as { stat(counter: string): number }).stat(counter);

describe.skipIf(inject('isPostgresOnly'))('statements on sqlite', () => {
  let opened: TestStore;
  let tenant: TenantId;
  beforeAll(async () => {
    opened = await openSqlite();
    tenant = await fill(opened);
  });
  afterAll(() => opened.close());

  test('a page on the main thread takes a bounded number of SQLite steps', async () => {
    const database = new DatabaseSync(join(opened.environment.DATA_DIR ?? '', 'subreport.db'));
    const stepsOf = ({ sql, values }: ReadStatement): number => {
      const statement = database.prepare(numbered(sql));
      statement.all(tenant, ...values);
      return statOf(statement, 'vmStep');
    };
    const all: readonly SubscriptionFilter[] = [
      ...filters,
      { ...created, iccid: subscriptionRow({ id: 'any' }).iccid },
      { ...created, deviceId: subscriptionRow({ id: 'any' }).deviceId, afterSeconds: 5 },
      { ...created, email: 'nobody@example.com' },
      { ...created, email: 'nobody@example.com', afterSeconds: 5 },
      { ...created, planId: 'plan' },
      { dateColumn: 'expiration_date', statuses, afterSeconds: 5 },
      { ...created, furtherBounds: [{ dateColumn: 'activation_date', beforeSeconds: 5_000 }] },
    ];
    const steps: number[] = [];
    let readsOnThreads = 0;
    const requireBounded = (options: ReadOptions | undefined): void => {
      if (options?.isBounded !== true) throw new Error('it runs on a reader thread');
    };
    const recorder: PageContext['store'] = {
      engine: opened.store.engine,
      async readTenant(of, work, options) {
        requireBounded(options);
        const statements: ReadStatement[] = [];
        const watched = watchReads(opened.store, (each) => statements.push(each));
        const read = await watched.readTenant(of, work, options);
        steps.push(...statements.map(stepsOf));
        return read;
      },
      async readTenantOnce(of, statement, options) {
        requireBounded(options);
        steps.push(stepsOf(statement));
        return opened.store.readTenantOnce(of, statement, options);
      },
    };
    const positions = [
      { kind: 'offset', skip: 0 },
      { kind: 'offset', skip: 24_000 },
      { kind: 'after', orderKey: { date: 5_400, id: 'id5' } },
      { kind: 'before', orderKey: { date: 5_400, id: 'id5' } },
    ] as const;
    for (const filter of all)
      for (const column of ['created_date', 'activation_date', 'expiration_date'] as const)
        for (const position of positions) {
          const order = { column, descending: position.kind === 'before' };
          await readTexts({ store: recorder }, tenant, filter, order, position, 51).catch(() => {
            readsOnThreads += 1;
          });
        }
    database.close();
    expect(steps.length).toBeGreaterThan(40);
    expect(readsOnThreads).toBeGreaterThan(60);
    expect(Math.max(...steps)).toBeLessThan(40_000); // counting all records takes 180,000 and more
  });

  test('changes begin at their key in the index of records and in that of tombstones', async () => {
    const changing = await fillAndRemove(opened);
    const database = new DatabaseSync(join(opened.environment.DATA_DIR ?? '', 'subreport.db'));
    for (const { sql, values } of await recordChangeStatements(opened, changing)) {
      const details = database
        .prepare(`explain query plan ${numbered(sql)}`)
        .all(changing, ...values)
        .map(({ detail }) => String(detail));
      const index = sql.includes('subscription_tombstone')
        ? 'subscription_tombstone USING COVERING INDEX subscription_tombstone_revision'
        : 'subscription USING INDEX subscription_revision';
      expect(details).toEqual([`SEARCH ${index} (tenant_id=? AND (revision,id)>(?,?))`]);
    }
    database.close();
  });
});

describe.skipIf(onCluster)('a tenant that the statistics do not know, on postgres', () => {
  let opened: TestStore;
  let client: pg.Client;
  beforeAll(async () => {
    opened = await openPostgres(testRole);
    client = new pg.Client({ connectionString: opened.environment.DATABASE_URL });
    await client.connect();
    for (const table of ['subscription', 'subscription_span'])
      await client.query(`alter table ${table} set (autovacuum_enabled = false)`);
    await insertTenant(opened.store, 'known', 1);
    await opened.store.loadSubscriptions('known' as TenantId, rowsOf(0, 5_000));
    await client.query('analyze');
  });
  afterAll(async () => {
    await client.end();
    await opened.close();
  });

  test('has leaves of its counts split by reading their rows, not all of its rows for each', async () => {
    await insertTenant(opened.store, 'new', 1);
    for (let start = 0; start < 20_000; start += 5_000)
      await opened.store.loadSubscriptions('new' as TenantId, rowsOf(start, 5_000));
    const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '' } = opened.environment;
    const other = openStore({ databaseUrl, dataDir, poolSize: 1, onConnectionError: () => undefined });
    const before = await entriesRead();
    await other.loadSubscriptions('new' as TenantId, rowsOf(20_000, 5_000));
    await other.close(); // its sessions report what they have read when they end
    await expect.poll(entriesRead).toBeGreaterThan(before);
    // 920,000 if each leaf reads all rows
    expect((await entriesRead()) - before).toBeLessThan(100_000);
  });

  test('has removed records described by their keys, not by all former versions for each', async () => {
    const tenant = await addTenant(opened.store, 'removed');
    await opened.store.loadSubscriptions(tenant, rowsOf(0, 5_000));
    const replacement = await opened.store.openStagedLoad(tenant);
    await replacement.finish(false);
    await replacement.close();
    const asked: ReadStatement[] = [];
    const range = { after: { revision: 1, id: '' }, newestFirst: false, limit: 1_000 };
    await watchReads(opened.store, (statement) => asked.push(statement)).readTenant(tenant, (reader) =>
      readDescribedChanges(reader, range, { base: 1, began: 1 }),
    );
    await client.query(['begin', ...plannerOptions.map((option) => `set local ${option}`)].join(';'));
    await client.query("select set_tenant('removed')");
    for (const { sql, values } of asked) {
      const { rows } = await client.query(`explain (analyze, format json) ${sql}`, [tenant, ...values]);
      expect(JSON.stringify(rows).match(/"Rows Removed by Join Filter":[1-9]/g)).toBeNull();
    }
    await client.query('rollback');
  });

  /** In an order in which each load adds rows to every leaf. */
  const rowsOf = (start: number, count: number) =>
    Array.from({ length: count }, (_, offset) => {
      const index = start + offset;
      return subscriptionRow({ id: `id${index}`, createdDate: (index * 7_919) % 1_000_003 });
    });

  async function entriesRead(): Promise<number> {
    const { rows } = await client.query(
      "select pg_stat_clear_snapshot(), (select sum(idx_tup_read) from pg_stat_user_indexes where relname = 'subscription') as n",
    );
    return Number(rows[0]?.n);
  }
});
