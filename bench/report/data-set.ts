import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { openStore } from '../../src/storage/open-store.ts';
import type { Store, TenantId } from '../../src/storage/store.ts';
import { findTenant, insertTenant, listTenants } from '../../src/storage/tables/tenant.ts';
import { startPostgres } from '../../tools/postgres-server.ts';

/** Size of a data set. The first tenant has a fifth of all records, the others share the rest. */
interface DataSetOptions {
  readonly records: number;
  readonly tenants: number;
}

/** Runs SQL directly, without the store. */
interface RawDatabase {
  /** Inserts the rows of tenants: how many, by the tenant's number. */
  fill(counts: readonly number[]): Promise<void>;
  /**
   * Does what a database does by itself some time after a large load: statistics and visibility.
   */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** Name of the tenant that has a fifth of the records. */
const largeTenant = 'tenant-0';

/** A store with records, and how a service reaches it. */
export interface FilledStore {
  readonly store: Store;
  /** The tenant with a fifth of the records. */
  readonly tenant: TenantId;
  readonly records: number;
  /** The settings that select the store. */
  readonly environment: Readonly<Record<string, string>>;
  /** Process id of the PostgreSQL server, if there is one. */
  readonly serverPid?: number;
}

/** Measures a store of each engine with each number of records, in sequence. */
export async function measureFilledStores<T>(
  { records, engine }: { readonly records: readonly string[]; readonly engine: readonly string[] },
  measure: (filled: FilledStore) => Promise<readonly T[]>,
): Promise<T[]> {
  const results: T[] = [];
  for (const count of records.map(Number))
    for (const name of engine) results.push(...(await withFilledStore(name, count, measure)));
  return results;
}

/** Runs `work` with its own store of `count` records. */
async function withFilledStore<T>(
  engine: string,
  records: number,
  work: (filled: FilledStore) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-bench-'));
  const server =
    engine === 'postgres'
      ? await startPostgres(['shared_buffers=2GB', 'maintenance_work_mem=512MB', 'max_wal_size=8GB', 'autovacuum=off'])
      : undefined;
  const store = openStore({
    databaseUrl: server?.url,
    dataDir: folder,
    poolSize: 4,
    operationMs: 600_000, // an OFFSET of millions takes seconds
    onConnectionError: () => undefined,
  });
  try {
    await store.migrate();
    const raw =
      server === undefined ? await openRawSqlite(join(folder, 'subreport.db')) : await openRawPostgres(server.url);
    const started = performance.now();
    const options = { records, tenants: Math.min(200, Math.ceil(records / 1_000)) };
    await fillStore(store, raw, options).finally(() => raw.close());
    console.error(`${engine}: ${records} records in ${((performance.now() - started) / 1000).toFixed(0)} s`);
    const large = await findTenant(store, largeTenant);
    if (large === undefined) throw new Error('the large tenant is missing');
    const environment = { DATA_DIR: folder, ...(server !== undefined && { DATABASE_URL: server.url }) };
    const { tenant } = large;
    return await work({ store, tenant, records, environment, ...(server !== undefined && { serverPid: server.pid }) });
  } finally {
    await store.close();
    await server?.stop();
    rmSync(folder, { recursive: true });
  }
}

/**
 * Fills a migrated store directly: one INSERT per tenant into a table without indexes and without
 * its primary key, which are rebuilt afterwards, as are the counts. Both engines get the same rows:
 * three years of dates, a tenth of a tenant's records in one second, 40 products of different
 * sizes, statuses that depend on age.
 */
async function fillStore(store: Store, raw: RawDatabase, { records, tenants }: DataSetOptions): Promise<void> {
  for (let tenant = 0; tenant < tenants; tenant += 1) await insertTenant(store, `tenant-${tenant}`, 1);
  const large = Math.floor(records / 5);
  const small = Math.floor((records - large) / Math.max(1, tenants - 1));
  await raw.fill(Array.from({ length: tenants }, (_, tenant) => (tenant === 0 ? large : small)));
  for (const { tenant } of await listTenants(store)) await store.recountSubscriptions(tenant, 1);
  await raw.settle();
}

/** The parts of `insertRows` that the engines write differently. */
interface Dialect {
  /** A query of the numbers from 1 to `count`, as `i`. */
  readonly numbers: (count: number) => string;
  /** Formats epoch seconds as in a record. */
  readonly instant: (seconds: string) => string;
}

/**
 * Inserts the rows of a tenant. Records agree with their columns, or a recount would repair them.
 */
function insertRows({ numbers, instant }: Dialect, tenant: number, count: number): string {
  return `insert into subscription
      (tenant_id, id, created_date, activation_date, expiration_date, status, product_id, iccid, email,
        plan_id, device_id, auto_renew, record)
    with series as (${numbers(count)}),
    mixed as (select i, (i * 7919 + ${tenant} * 104729) % 1000003 as m from series),
    made as (
      select 'S' || cast(1000003 + m as text) || 'x' || cast(i as text) as id,
        case when i % 10 = 3 then 1700000000 else 1672531200 + cast(94608000.0 * i / ${count} as bigint) end as created,
        'P' || cast((m % 40) * (m % 7) / 6 as text) as product,
        case when m % 50000 = 7 then 'SUSPENDED' when m % 30 = 0 then null when i > ${count} * 0.9 then 'ACTIVE'
          when m % 20 = 1 then 'PENDING' when m % 3 = 0 then 'DEPLETED' else 'EXPIRED' end as status,
        '89445' || cast(100000000000 + m % (${count} / 3 + 1) as text) as iccid,
        'user' || cast(m % (${count} / 4 + 1) as text) || '@example.com' as email,
        'plan-' || cast(m % 8 as text) as plan, 'device-' || cast(m as text) as device,
        case when m % 3 = 0 then 'true' else 'false' end as renewal
      from mixed
    )
    select 'tenant-${tenant}', id, created, created + 60, created + 2592060, status, product, iccid, email, plan, device, renewal,
      '{"id":"' || id || '",' || coalesce('"status":"' || status || '",', '') || '"activationDate":"' || ${instant('created + 60')}
        || '","expirationDate":"' || ${instant('created + 2592060')} || '","createdDate":"' || ${instant('created')}
        || '","product":{"id":"' || product || '","name":"Europe 5 GB, 30 days","period":30,"period_unit":"DAYS","plan_id":"'
        || plan || '"},"iccid":"' || iccid || '","device_id":"' || device || '","auto_renew":"' || renewal || '"}'
    from made`;
}

/** Direct access to a PostgreSQL database, as a superuser. */
async function openRawPostgres(url: string): Promise<RawDatabase> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const dialect: Dialect = {
    numbers: (count) => `select i from generate_series(1::bigint, ${count}) as n (i)`,
    instant: (seconds) => `to_char(to_timestamp(${seconds}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
  };
  return {
    async fill(counts) {
      // without it, the foreign key looks up the tenant of each row
      await client.query('set session_replication_role = replica');
      const { rows: indexes } = await client.query<{ name: string; sql: string }>(
        `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as sql from pg_index
         where indrelid = 'subscription'::regclass and not indisprimary`,
      );
      for (const { name } of indexes) await client.query(`drop index ${name}`);
      await client.query('alter table subscription drop constraint subscription_pkey');
      for (const [tenant, count] of counts.entries()) await client.query(insertRows(dialect, tenant, count));
      await client.query('alter table subscription add primary key (tenant_id, id)');
      for (const { sql } of indexes) await client.query(sql);
      await client.query('vacuum (freeze, analyze) subscription');
    },
    async settle() {
      await client.query('vacuum (analyze) subscription');
      await client.query('vacuum (analyze) subscription_span');
      await client.query('checkpoint');
    },
    close: () => client.end(),
  };
}

/** Direct access to a SQLite database. */
async function openRawSqlite(file: string): Promise<RawDatabase> {
  const database = new DatabaseSync(file);
  database.exec('pragma synchronous = off; pragma cache_size = -500000; pragma temp_store = memory');
  const dialect: Dialect = {
    numbers: (count) =>
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count}) select i from n`,
    instant: (seconds) => `strftime('%Y-%m-%dT%H:%M:%SZ', ${seconds}, 'unixepoch')`,
  };
  return {
    async fill(counts) {
      const indexes = database
        .prepare(
          "select name, sql from sqlite_master where type = 'index' and tbl_name = 'subscription' and sql is not null",
        )
        .all();
      for (const { name } of indexes) database.exec(`drop index ${name}`);
      for (const [tenant, count] of counts.entries()) database.exec(insertRows(dialect, tenant, count));
      for (const { sql } of indexes) database.exec(String(sql));
    },
    settle: async () => database.exec('pragma wal_checkpoint(truncate)'),
    close: async () => database.close(),
  };
}
