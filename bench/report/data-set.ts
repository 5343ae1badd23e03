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
  run(sql: string): Promise<void>;
  /** The statements that create the indexes that do not belong to a constraint, by name. */
  indexes(): Promise<ReadonlyMap<string, string>>;
  /**
   * Does what a database does by itself some time after a large load: statistics and visibility.
   */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** Name of the tenant that has a fifth of the records. */
const largeTenant = 'tenant-0';

/** Measures a store of each engine with each number of records, in sequence. */
export async function measureFilledStores<T>(
  { records, engine }: { readonly records: readonly string[]; readonly engine: readonly string[] },
  measure: (store: Store, tenant: TenantId, records: number) => Promise<readonly T[]>,
): Promise<T[]> {
  const results: T[] = [];
  for (const count of records.map(Number))
    for (const name of engine)
      results.push(...(await withFilledStore(name, count, (store, tenant) => measure(store, tenant, count))));
  return results;
}

/** Runs `work` with its own store of `count` records and its large tenant. */
async function withFilledStore<T>(
  engine: string,
  records: number,
  work: (store: Store, tenant: TenantId) => Promise<T>,
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
    return await work(store, large.tenant);
  } finally {
    await store.close();
    await server?.stop();
    rmSync(folder, { recursive: true });
  }
}

/**
 * Fills a migrated store directly: one INSERT per tenant without indexes, which are rebuilt
 * afterwards, as are the counts. Both engines get the same rows: three years of dates, a tenth of a
 * tenant's records in one second, 40 products of different sizes, statuses that depend on age.
 */
async function fillStore(store: Store, raw: RawDatabase, { records, tenants }: DataSetOptions): Promise<void> {
  for (let tenant = 0; tenant < tenants; tenant += 1) await insertTenant(store, `tenant-${tenant}`, 1);
  const indexes = await raw.indexes();
  const remade = [...indexes].filter(([name]) => name.startsWith('subscription_'));
  for (const [name] of remade) await raw.run(`drop index ${name}`);
  const large = Math.floor(records / 5);
  const small = Math.floor((records - large) / Math.max(1, tenants - 1));
  for (let tenant = 0; tenant < tenants; tenant += 1) await raw.run(insertRows(tenant, tenant === 0 ? large : small));
  for (const [, sql] of remade) await raw.run(sql);
  for (const { tenant } of await listTenants(store)) await store.recountSubscriptions(tenant);
  await raw.settle();
}

function insertRows(tenant: number, count: number): string {
  return `insert into subscription
      (tenant_id, id, created_date, activation_date, expiration_date, status, product_id, iccid, email,
        plan_id, device_id, auto_renew, record)
    with recursive series (i) as (select cast(1 as bigint) union all select i + 1 from series where i < ${count}),
    mixed as (select i, (i * 7919 + ${tenant} * 104729) % 1000003 as m from series),
    made as (
      select i, m, 'S' || cast(1000003 + m as text) || 'x' || cast(i as text) as id,
        case when i % 10 = 3 then 1700000000 else 1672531200 + cast(94608000.0 * i / ${count} as bigint) end as created,
        'P' || cast((m % 40) * (m % 7) / 6 as text) as product,
        case when m % 50000 = 7 then 'SUSPENDED' when m % 30 = 0 then null when i > ${count} * 0.9 then 'ACTIVE'
          when m % 20 = 1 then 'PENDING' when m % 3 = 0 then 'DEPLETED' else 'EXPIRED' end as status
      from mixed
    )
    select 'tenant-${tenant}', id, created, created + 60, created + 2592060, status, product,
      '89445' || cast(100000000000 + m % (${count} / 3 + 1) as text), 'user' || cast(m % (${count} / 4 + 1) as text) || '@example.com',
      'plan-' || cast(m % 8 as text), 'device-' || cast(m as text), case when m % 3 = 0 then 'true' else 'false' end,
      '{"id":"' || id || '","status":"' || coalesce(status, 'ACTIVE') || '","activationDate":"2024-01-01T00:00:00Z","expirationDate":'
        || '"2024-01-31T00:00:00Z","createdDate":"2024-01-01T00:00:00Z","product":{"id":"' || product
        || '","name":"Europe 5 GB, 30 days","period":30,"period_unit":"DAYS","plan_id":"cGxhbi1ldXJvcGU"},"iccid":"89445'
        || cast(100000000000 + m as text) || '","device_id":"device-' || cast(m as text) || '","auto_renew":"true"}'
    from made`;
}

/** Direct access to a PostgreSQL database, as a superuser. */
async function openRawPostgres(url: string): Promise<RawDatabase> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    run: async (sql) => void (await client.query(sql)),
    indexes: async () => {
      const { rows } = await client.query<{ name: string; sql: string }>(
        `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as sql from pg_index
         where indrelid = 'subscription'::regclass and not indisprimary`,
      );
      return new Map(rows.map(({ name, sql }) => [name, sql]));
    },
    settle: async () => {
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
  return {
    run: async (sql) => database.exec(sql),
    indexes: async () => {
      const rows = database
        .prepare(
          "select name, sql from sqlite_master where type = 'index' and tbl_name = 'subscription' and sql is not null",
        )
        .all();
      return new Map(rows.map(({ name, sql }) => [String(name), String(sql)]));
    },
    settle: async () => database.exec('pragma wal_checkpoint(truncate)'),
    close: async () => database.close(),
  };
}
