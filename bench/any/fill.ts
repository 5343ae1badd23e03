import { DatabaseSync } from 'node:sqlite';
import type pg from 'pg';
import { columnArrays, unnestColumns } from '../../packages/service/storage/postgres/change-sql.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { columnNames, rowValues, valuePlaceholders } from '../../packages/service/storage/subscription-row.ts';
import { syntheticRecords } from '../support/data-set.ts';

// Fills the table of records in a tenth of a load's time: the indexes are built at the end. The
// caller then counts the records (`recountSubscriptions`).

/** Fills the embedded store in `file`. */
export function fillSqlite(file: string, tenant: TenantId, records: number): void {
  const database = new DatabaseSync(file, { timeout: 60_000 });
  database.exec('pragma synchronous = off; pragma cache_size = -1000000');
  const indexes = database
    .prepare(
      "select name, sql from sqlite_schema where type = 'index' and tbl_name = 'subscription' and sql is not null",
    )
    .all();
  for (const { name } of indexes) database.exec(`drop index ${name}`);
  const columns = `tenant_id, revision, ${columnNames()}`;
  const placeholders = valuePlaceholders(2).replaceAll('$', '?');
  const insert = database.prepare(`insert into subscription (${columns}) values (?1, 1, ${placeholders})`);
  database.exec('begin');
  database.prepare('update tenant set revision = 1 where id = ?').run(tenant);
  for (const row of syntheticRecords(records, 1)) insert.run(tenant, ...rowValues(row));
  database.exec('commit');
  for (const { sql } of indexes) database.exec(String(sql));
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
}

const batchRows = 5_000;

/** Fills the database of a superuser's connection. */
export async function fillPostgres(client: pg.Client, tenant: TenantId, records: number): Promise<void> {
  const { rows: indexes } = await client.query(
    "select indexname, indexdef from pg_indexes where tablename = 'subscription' and indexname not like '%_pkey'",
  );
  for (const { indexname } of indexes) await client.query(`drop index ${indexname}`);
  const text = `insert into subscription (tenant_id, revision, ${columnNames()})
    select $1, $2::bigint, ${columnNames()} from ${unnestColumns(3)} as r (${columnNames()})`;
  await client.query('update tenant set revision = 1 where id = $1', [tenant]);
  let batch = [];
  for (const row of syntheticRecords(records, 1)) {
    batch.push(row);
    if (batch.length < batchRows) continue;
    await client.query(text, [tenant, 1, ...columnArrays(batch)]);
    batch = [];
  }
  if (batch.length > 0) await client.query(text, [tenant, 1, ...columnArrays(batch)]);
  for (const { indexdef } of indexes) await client.query(indexdef);
  await client.query('analyze subscription');
}
