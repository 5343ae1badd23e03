import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { writeSource } from '../import/write-sources.ts';
import type { BenchStore } from '../support/bench-store.ts';
import { until } from '../support/data-set.ts';
import { treeCpuSeconds } from './process-tree.ts';

/** What an import of many records costs, into a store that has others. */
export interface Imported {
  readonly records: number;
  /** CPU seconds per million records, of the import and of PostgreSQL. */
  readonly process: number;
  readonly database: number;
  /** Bytes of the write-ahead log per record, on PostgreSQL. */
  readonly logBytes: number | undefined;
}

/** Disk space of a store, in bytes. */
export interface Stored {
  readonly total: number;
  /** Of the records themselves without indexes, of their indexes, of the counts. */
  readonly parts: Readonly<Record<string, number>>;
}

const runImport = fileURLToPath(new URL('../import/run-import.ts', import.meta.url));

/** Imports records in random order from NDJSON as the new tenant `bench`, in its own process. */
export async function measureImport(opened: BenchStore, records: number): Promise<Imported> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-bench-'));
  const file = join(folder, 'records.ndjson');
  await writeSource(file, records, 'at random');
  await insertTenant(opened.store, 'bench', until);
  const { serverPid } = opened;
  const databaseSeconds = () => (serverPid === undefined ? 0 : treeCpuSeconds(serverPid));
  const [cpuBefore, logBefore] = [databaseSeconds(), await logPosition(opened)];
  // the flags of `subreport import`
  const output = execFileSync(process.execPath, ['--max-semi-space-size=4', runImport, file, 'import'], {
    env: { ...process.env, ...opened.environment },
    encoding: 'utf8',
  });
  const database = databaseSeconds() - cpuBefore;
  const logAfter = await logPosition(opened);
  rmSync(folder, { recursive: true });
  const { cpuSeconds } = JSON.parse(output) as { cpuSeconds: number };
  const millions = records / 1e6;
  return {
    records,
    process: cpuSeconds / millions,
    database: database / millions,
    logBytes: logAfter === undefined ? undefined : (logAfter - (logBefore ?? 0)) / records,
  };
}

/** The size of a store. */
export async function measureSize(opened: BenchStore): Promise<Stored> {
  if (opened.serverPid === undefined) return measureFile(join(opened.folder, 'subreport.db'));
  const [row] = await queryBench(opened, opened.workerPids === undefined ? sizes : clusterSizes);
  const { total, ...parts } = Object.fromEntries(
    Object.entries(row ?? {}).map(([name, bytes]) => [name, Number(bytes)]),
  );
  return { total: total ?? 0, parts };
}

const sizes = `select pg_database_size(current_database()) as total,
  pg_table_size('subscription') as records, pg_indexes_size('subscription') as indexes,
  pg_total_relation_size('subscription_span') as counts`;

/** The same on all nodes. */
const clusterSizes = `select
  (select sum(result::bigint) from run_command_on_all_nodes('select pg_database_size(current_database())')) as total,
  citus_table_size('subscription') as records,
  citus_total_relation_size('subscription') - citus_table_size('subscription') as indexes,
  citus_total_relation_size('subscription_span') as counts`;

/** The size of some tables with their indexes, in bytes. */
export async function measureTables(opened: BenchStore, tables: readonly string[]): Promise<number> {
  const names = tables.map((table) => `'${table}'`);
  if (opened.serverPid !== undefined) {
    const [row] = await queryBench(
      opened,
      `select ${names.map((name) => `pg_total_relation_size(${name})`).join(' + ')} as n`,
    );
    return Number(row?.n);
  }
  const database = new DatabaseSync(join(opened.folder, 'subreport.db'));
  const [row] = database
    .prepare(
      `select sum(pgsize) as n from dbstat
        where name in (select name from sqlite_schema where tbl_name in (${names.join(', ')}))`,
    )
    .all();
  database.close();
  return Number(row?.n);
}

/** The size of a database file after its log was written into it. */
function measureFile(file: string): Stored {
  const database = new DatabaseSync(file);
  database.exec('pragma wal_checkpoint(truncate)');
  const sizes = database
    .prepare(
      `select case when name in (select name from sqlite_schema where type = 'index' and tbl_name = 'subscription')
          then 'indexes' when name = 'subscription' then 'records' else 'counts' end as part, sum(pgsize) as bytes
        from dbstat where name in (select name from sqlite_schema where tbl_name in ('subscription', 'subscription_span'))
        group by part order by part desc`,
    )
    .all();
  database.close();
  const parts = Object.fromEntries(sizes.map(({ part, bytes }) => [String(part), Number(bytes)]));
  return { total: statSync(file).size, parts };
}

async function logPosition(opened: BenchStore): Promise<number | undefined> {
  if (opened.serverPid === undefined) return undefined;
  const [row] = await queryBench(opened, "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as position");
  return Number(row?.position);
}

/** Runs a statement as the role of the service, on PostgreSQL. */
export async function queryBench(opened: BenchStore, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: opened.environment.DATABASE_URL });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}
