import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sessionOptions } from '../../src/storage/postgres.ts';
import type { SqlValue, TenantId, TenantReader } from '../../src/storage/store.ts';
import type { SubscriptionFilter } from '../../src/storage/subscription-filter.ts';
import { readPage } from '../../src/storage/subscription-page.ts';
import { readRange } from '../../src/storage/subscription-rank.ts';
import { findTenant, insertTenant } from '../../src/storage/tenant.ts';
import { engines, type TestStore } from '../support/engines.ts';
import { subscriptionRow } from '../support/rows.ts';

const records = 60_000;
const statuses = ['ACTIVE', 'DEPLETED', 'EXPIRED'];
const created = { dateColumn: 'created_date' } as const;
const filters: readonly SubscriptionFilter[] = [
  created,
  { ...created, productId: 'product-1' },
  { ...created, statuses: ['EXPIRED'] },
  { ...created, statuses: ['RARE', 'EXPIRED'] },
  { ...created, productId: 'product-1', statuses: ['RARE', 'ACTIVE'] },
  { ...created, afterSeconds: 1_000, beforeSeconds: 19_000 },
  { ...created, productId: 'product-1', statuses: ['ACTIVE', 'EXPIRED'], afterSeconds: 1_000, beforeSeconds: 19_000 },
];

interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Every statement of a deep page, a page behind a cursor and their totals, in both directions. */
async function recordStatements({ store }: TestStore, tenant: TenantId): Promise<readonly Statement[]> {
  const statements: Statement[] = [];
  await store.readTenant(tenant, async (reader) => {
    const recorder: TenantReader = {
      all: (sql, values = []) => {
        statements.push({ sql, values });
        return reader.all(sql, values);
      },
    };
    for (const filter of filters) {
      const { total } = await readRange(recorder, filter);
      for (const descending of [false, true]) {
        const order = { column: 'created_date', descending } as const;
        const skip = Math.floor(total * 0.6);
        const [first] = await readPage(recorder, filter, order, { kind: 'offset', skip }, 51);
        if (first !== undefined) await readPage(recorder, filter, order, { kind: 'after', key: first }, 51);
      }
    }
  });
  return statements;
}

/** One record in five at the same second; two of them have a status that no other one has, far apart. */
async function fill({ store }: TestStore): Promise<TenantId> {
  await insertTenant(store, 'large', 1);
  const tenant = (await findTenant(store, 'large'))?.tenant as TenantId;
  for (let start = 0; start < records; start += 5_000) {
    const rows = Array.from({ length: 5_000 }, (_, offset) => {
      const index = start + offset;
      return subscriptionRow({
        id: `id${(index * 7_919) % records}`,
        createdDate: index % 5 === 0 ? 10_000 : Math.floor(index / 3),
        status: index === 100 || index === records - 100 ? 'RARE' : (statuses[index % 3] ?? null),
        productId: `product-${index % 4}`,
        record: 'x'.repeat(300),
      });
    });
    await store.loadSubscriptions(tenant, rows);
  }
  return tenant;
}

describe('statements of pages on sqlite', () => {
  let opened: TestStore;
  let tenant: TenantId;
  beforeAll(async () => {
    opened = await engines[0].openTestStore();
    tenant = await fill(opened);
  });
  afterAll(() => opened.close());

  test('begin at a key of an index, not at the first record of the tenant or at a bound', async () => {
    const database = new DatabaseSync(join(opened.environment.DATA_DIR ?? '', 'subreport.db'));
    const statements = await recordStatements(opened, tenant);
    const searches = statements.flatMap(({ sql, values }) =>
      database
        .prepare(`explain query plan ${sql.replaceAll(/\$(\d+)/g, '?$1')}`)
        .all(tenant, ...values)
        .map(({ detail }) => String(detail))
        .filter((detail) => detail.includes(' subscription ')),
    );
    database.close();
    expect(searches.length).toBeGreaterThan(statements.length / 4);
    const ranges = /\((created_date,id)\)[<>]\(\?,\?\)|AND id=\?/;
    expect(searches.filter((detail) => !detail.startsWith('SEARCH') || !ranges.test(detail))).toEqual([]);
  });
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Rows that all scans of a plan read. */
function rowsRead(node: PlanNode): number {
  const own = node['Node Type'].includes('Scan')
    ? (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)
    : 0;
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), own * (node['Actual Loops'] ?? 1));
}

describe('statements of pages on postgres', () => {
  let opened: TestStore;
  let tenant: TenantId;
  let client: pg.Client;
  beforeAll(async () => {
    opened = await engines[1].openTestStore();
    client = new pg.Client({ connectionString: opened.environment.DATABASE_URL, options: sessionOptions });
    await client.connect();
    for (const table of ['subscription', 'subscription_span'])
      await client.query(`alter table ${table} set (autovacuum_enabled = false)`); // no statistics until a test makes them
    tenant = await fill(opened);
    await client.query('set app.tenant = large');
  }, 120_000);
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
    for (const { sql, values } of await recordStatements(opened, tenant)) {
      const literals = [tenant, ...values].map((value) =>
        typeof value === 'number' ? value : pg.escapeLiteral(String(value)),
      );
      await client.query(`prepare page as ${sql}`);
      const { rows } = await client.query(
        `explain (analyze, buffers, format json) execute page (${literals.join(', ')})`,
      );
      await client.query('deallocate page');
      const plan = rows[0]?.['QUERY PLAN'][0].Plan;
      expect([sql, rowsRead(plan) < 1_500]).toEqual([sql, true]);
      expect([sql, plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] < 1_500]).toEqual([sql, true]);
    }
  });
});
