import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { onCluster, openPostgres, openSqlite, type TestStore } from '../../../../test/support/engines.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import { readTexts } from '../../../../test/support/read-page.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { openStore } from '../../storage/open-store.ts';
import { sessionOptions } from '../../storage/postgres/session.ts';
import { readChanges } from '../../storage/read/changes.ts';
import type { PageContext } from '../../storage/read/page.ts';
import { RangeMemory } from '../../storage/read/range-memory.ts';
import { numbered } from '../../storage/sqlite/connection.ts';
import type { ReadOptions, SqlValue, TenantId, TenantReader } from '../../storage/store.ts';
import type { SubscriptionFilter } from '../../storage/subscription-filter.ts';
import { findTenant, insertTenant } from '../../storage/tables/tenant.ts';

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

const ascending = { column: 'created_date', descending: false } as const;

interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** A reader that records its statements. */
const recordInto = (statements: Statement[], reader: TenantReader): TenantReader => ({
  all: (sql, values = []) => {
    statements.push({ sql, values });
    return reader.all(sql, values);
  },
});

/**
 * All statements of pages with their totals, in both directions: 60 % deep, after `skips` records,
 * and after and before a key; the first two with remembered ranges too.
 */
async function recordStatements(
  { store }: TestStore,
  tenant: TenantId,
  skips: readonly number[] = [],
): Promise<readonly Statement[]> {
  const statements: Statement[] = [];
  const ranges = new RangeMemory();
  const recorder: PageContext['store'] = {
    engine: store.engine,
    readTenant: (of, work) => store.readTenant(of, (reader) => work(recordInto(statements, reader))),
    readTenantOnce: (of, asked) => {
      statements.push(asked);
      return store.readTenantOnce(of, asked);
    },
  };
  for (const filter of filters) {
    const { total } = await readTexts({ store }, tenant, filter, ascending, { kind: 'offset', skip: 0 }, 1);
    for (const order of [ascending, { ...ascending, descending: true }]) {
      for (const skip of [...skips, Math.floor(total * 0.6)]) {
        const position = { kind: 'offset', skip } as const;
        const {
          records: { first },
        } = await readTexts({ store: recorder }, tenant, filter, order, position, 51);
        if (first === undefined) continue;
        for (const kind of ['after', 'before'] as const)
          await readTexts({ store: recorder }, tenant, filter, order, { kind, orderKey: first }, 51);
        await readTexts({ store, ranges }, tenant, filter, order, position, 51);
        await readTexts({ store: recorder, ranges }, tenant, filter, order, position, 51);
      }
    }
  }
  return [...new Map(statements.map((each) => [JSON.stringify(each), each])).values()];
}

/** One record in five has the same second. Two records far apart have a status of their own. */
async function fill({ store }: TestStore): Promise<TenantId> {
  await insertTenant(store, 'large', 1);
  const tenant = (await findTenant(store, 'large'))?.tenant as TenantId;
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
async function recordChangeStatements({ store }: TestStore, tenant: TenantId): Promise<readonly Statement[]> {
  const statements: Statement[] = [];
  await store.readTenant(tenant, async (reader) => {
    const recorder = recordInto(statements, reader);
    const behind = [
      { revision: 0, id: '' },
      { revision: 2, id: 'id3' },
      { revision: 4, id: 'id3' },
      { revision: 9, id: '' },
    ];
    const read = [];
    for (const key of behind)
      read.push((await readChanges(recorder, { after: key, newestFirst: false, limit: 101 })).length);
    expect(read).toEqual([101, 101, 101, 0]);
  });
  return statements;
}

/** Two revisions that load 5,000 records each, and two that remove half of them. */
async function fillAndRemove({ store }: TestStore): Promise<TenantId> {
  await insertTenant(store, 'changing', 1);
  const tenant = (await findTenant(store, 'changing'))?.tenant as TenantId;
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
    const stepsOf = ({ sql, values }: Statement): number => {
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
        const statements: Statement[] = [];
        const read = await opened.store.readTenant(of, (reader) => work(recordInto(statements, reader)), options);
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
    expect(steps.length).toBeGreaterThan(50);
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

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The rows that all scans of a plan read. */
function rowsRead(node: PlanNode): number {
  const own = node['Node Type'].includes('Scan')
    ? (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)
    : 0;
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), own * (node['Actual Loops'] ?? 1));
}

/** Runs a statement of a tenant; expects it to read fewer than `most` rows, and pages. */
async function expectFewRead(
  client: pg.Client,
  { sql, values }: Statement,
  tenant: TenantId,
  most: number,
): Promise<void> {
  const literals = [tenant, ...values].map((value) =>
    typeof value === 'number' ? value : pg.escapeLiteral(String(value)),
  );
  await client.query(`prepare page as ${sql}`);
  const { rows } = await client.query(`explain (analyze, buffers, format json) execute page (${literals.join(', ')})`);
  await client.query('deallocate page');
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  expect([sql, rowsRead(plan) < most]).toEqual([sql, true]);
  expect([sql, plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] < most]).toEqual([sql, true]);
}

/**
 * A store on PostgreSQL and a connection with its options. The tables have no statistics until a
 * test runs `analyze`.
 */
async function openWithoutStatistics(tables: readonly string[]) {
  const opened = await openPostgres(testRole);
  const client = new pg.Client({ connectionString: opened.environment.DATABASE_URL, options: sessionOptions });
  await client.connect();
  for (const table of tables) await client.query(`alter table ${table} set (autovacuum_enabled = false)`);
  return { opened, client };
}

describe.skipIf(onCluster)('statements of changes on postgres', () => {
  let opened: TestStore;
  let tenant: TenantId;
  let client: pg.Client;
  beforeAll(async () => {
    ({ opened, client } = await openWithoutStatistics(['subscription', 'subscription_tombstone']));
    tenant = await fillAndRemove(opened);
    await client.query('set app.tenant = changing');
  });
  afterAll(async () => {
    await client.end();
    await opened.close();
  });

  test.each([
    ['without statistics', 'select 1'],
    ['with statistics', 'analyze'],
  ])('read a bounded number of rows and pages %s', async (_title, prepare) => {
    await client.query(prepare);
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      await client.query(`set plan_cache_mode = ${mode}`);
      for (const statement of await recordChangeStatements(opened, tenant))
        await expectFewRead(client, statement, tenant, 300);
    }
  });
});

describe.skipIf(onCluster)('statements of pages on postgres', () => {
  let opened: TestStore;
  let tenant: TenantId;
  let client: pg.Client;
  let statements: readonly Statement[];
  beforeAll(async () => {
    ({ opened, client } = await openWithoutStatistics(['subscription', 'subscription_span']));
    tenant = await fill(opened);
    statements = await recordStatements(opened, tenant, [0, 100]);
    await client.query('set app.tenant = large');
  });
  afterAll(async () => {
    await client.end();
    await opened.close();
  });

  test.each([
    ['without statistics', 'force_custom_plan', 'select 1'],
    ['without statistics', 'force_generic_plan', 'select 1'],
    ['with statistics', 'force_custom_plan', 'analyze'],
    ['with statistics', 'force_generic_plan', 'analyze'],
  ])('read a bounded number of rows and pages %s, %s', async (_title, mode, prepare) => {
    await client.query(prepare);
    await client.query(`set plan_cache_mode = ${mode}`);
    for (const statement of statements) await expectFewRead(client, statement, tenant, 1_500);
  });
});

describe.skipIf(onCluster)('a tenant that the statistics do not know, on postgres', () => {
  let opened: TestStore;
  let client: pg.Client;
  beforeAll(async () => {
    ({ opened, client } = await openWithoutStatistics(['subscription', 'subscription_span']));
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
