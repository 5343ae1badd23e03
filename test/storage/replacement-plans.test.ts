import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createTables,
  lookUpByKey,
  removeRows,
  removeTombstonesOfInserted,
} from '../../src/storage/postgres/replacement.ts';
import { onCluster, openPostgres, type TestStore } from '../support/engines.ts';

const rowCount = 10_000;

interface Plan {
  readonly 'Node Type': string;
  readonly Plans?: readonly Plan[];
}

/** Plan nodes that read a whole table once for each row of the other side of a join. */
function repeatedScans(plan: Plan, isRepeated = false): readonly string[] {
  const { 'Node Type': type, Plans: inputs = [] } = plan;
  return [
    ...(isRepeated && type === 'Seq Scan' ? [type] : []),
    ...inputs.flatMap((input, index) => repeatedScans(input, isRepeated || (type === 'Nested Loop' && index === 1))),
  ];
}

// While the table's statistics are old, the planner takes every tenant for a small one. A join that
// it then writes as a scan for each row costs the square of the rows: 25,000 took 170 s.
describe.skipIf(onCluster)('a replacement on PostgreSQL', () => {
  let opened: TestStore;
  let client: pg.Client;

  beforeAll(async () => {
    opened = await openPostgres('postgres');
    client = new pg.Client({ connectionString: opened.environment.DATABASE_URL });
    await client.connect();
    await client.query('begin');
    await client.query('insert into tenant (id, created_at) values ($1, 1), ($2, 1)', ['few', 'many']);
    await client.query(insertRows('few', 20));
    await client.query(insertTombstones('few', 20));
    await client.query('commit');
    await client.query('analyze subscription, subscription_tombstone');
    await client.query('begin');
    for (const statement of createTables) await client.query(statement);
    await client.query(insertRows('many', rowCount));
    await client.query(`insert into removed (id) select 'id' || n from generate_series(1, ${rowCount}) as n`);
    await client.query(
      `insert into changed (id, is_new) select 'id' || n, true from generate_series(1, ${rowCount}) as n`,
    );
    await client.query(insertTombstones('many', rowCount));
    for (const setting of lookUpByKey) await client.query(`set local ${setting}`);
  });
  afterAll(async () => {
    await client.end();
    await opened.close();
  });

  const insertRows = (tenant: string, count: number): string =>
    `insert into subscription (tenant_id, id, created_date, activation_date, expiration_date, product_id, iccid, record, plan_id, device_id, auto_renew, revision)
     select '${tenant}', 'id' || n, n, n, n, 'p', 'i', repeat('x', 300), 'p', 'd', 'true', 1 from generate_series(1, ${count}) as n`;

  const insertTombstones = (tenant: string, count: number): string =>
    `insert into subscription_tombstone (tenant_id, id, revision)
     select '${tenant}', 'id' || n, 1 from generate_series(1, ${count}) as n`;

  test.each([
    ['removes rows', removeRows],
    ['removes the tombstones of inserted rows', removeTombstonesOfInserted],
  ])('%s by looking each one up in an index, although the statistics are old', async (_, statement) => {
    const { rows } = await client.query(`explain (format json) ${statement}`, ['many']);
    expect(repeatedScans(rows[0]['QUERY PLAN'][0].Plan)).toEqual([]);
  });
});
