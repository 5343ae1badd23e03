import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { openStore } from '../../packages/service/storage/open-store.ts';
import type { SqlValue, Store, TenantId } from '../../packages/service/storage/store.ts';
import {
  and,
  binder,
  filterConditions,
  type SubscriptionFilter,
} from '../../packages/service/storage/subscription-filter.ts';
import { findTenant, insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { startPostgres } from '../../tools/postgres-server.ts';
import { until } from '../support/data-set.ts';
import { exactFamilyCpuSeconds } from '../support/exact-cpu.ts';
import { fillPostgres, fillSqlite } from './fill.ts';

/** A store with the records of one tenant. */
export interface Opened {
  readonly store: Store;
  readonly serverPid?: number;
  readonly loadCpuSeconds: number;
  /** Counts by SQL alone. */
  count(filter: SubscriptionFilter, tenant: TenantId): Promise<number>;
  bytes(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

const countSql = (filter: SubscriptionFilter, bound: SqlValue[]): string =>
  `select count(*) as n from subscription where tenant_id = $1${and(filterConditions(filter, binder(bound)))}`;

/** CPU seconds of this process, and of PostgreSQL. */
export const cpuSeconds = (pid?: number): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + (pid === undefined ? 0 : exactFamilyCpuSeconds(pid));
};

const options = { poolSize: 2, onConnectionError: () => undefined, operationMs: 3_600_000 } as const;

/** Fills the store unless an earlier run has; returns the CPU seconds. */
async function load(store: Store, fill: (tenant: TenantId) => Promise<void>, pid?: number): Promise<number> {
  await store.migrate();
  if ((await findTenant(store, 'tenant-001')) !== undefined) return 0;
  const before = cpuSeconds(pid);
  await insertTenant(store, 'tenant-001', until);
  const tenant = (await findTenant(store, 'tenant-001'))?.tenant as TenantId;
  await fill(tenant);
  await store.recountSubscriptions(tenant, until);
  return cpuSeconds(pid) - before;
}

async function openSqlite(records: number, data?: string): Promise<Opened> {
  const folder = data ?? `/tmp/subreport-any-${process.pid}`;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const store = openStore({ ...options, databaseUrl: undefined, dataDir: folder });
  const file = join(folder, 'subreport.db');
  const loadCpuSeconds = await load(store, async (tenant) => fillSqlite(file, tenant, records));
  const raw = new DatabaseSync(file, { timeout: 60_000 });
  return {
    store,
    loadCpuSeconds,
    async count(filter, tenant) {
      const bound: SqlValue[] = [];
      const sql = countSql(filter, bound).replaceAll(/\$(\d+)/g, '?$1');
      return Number(raw.prepare(sql).get(tenant, ...bound)?.n);
    },
    async bytes() {
      const sql = `select name, sum(pgsize) as bytes from dbstat
        where name in (select name from sqlite_schema where tbl_name like 'subscription%') group by name order by 2 desc`;
      return new Map(
        raw
          .prepare(sql)
          .all()
          .map(({ name, bytes }) => [String(name), Number(bytes)]),
      );
    },
    async close() {
      raw.close();
      await store.close();
    },
  };
}

async function openPostgres(records: number, data?: string): Promise<Opened> {
  const settings = ['shared_buffers=3GB', 'max_wal_size=8GB', 'maintenance_work_mem=512MB', 'autovacuum=off'];
  const server = await startPostgres([...settings, 'max_parallel_workers_per_gather=0'], undefined, data);
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  const isNew = (await admin.query("select from pg_database where datname = 'any_bench'")).rows.length === 0;
  if (isNew) await admin.query('create role any_bench login');
  if (isNew) await admin.query('create database any_bench owner any_bench');
  const url = new URL(server.url);
  url.pathname = '/any_bench';
  const raw = new pg.Client({ connectionString: url.href });
  await raw.connect();
  url.username = 'any_bench';
  const store = openStore({ ...options, databaseUrl: url.href, dataDir: '/nowhere' });
  const loadCpuSeconds = await load(store, (tenant) => fillPostgres(raw, tenant, records), server.pid);
  if (isNew) await raw.query('vacuum analyze');
  return {
    store,
    serverPid: server.pid,
    loadCpuSeconds,
    async count(filter, tenant) {
      const bound: SqlValue[] = [];
      const text = countSql(filter, bound);
      return Number((await raw.query(text, [tenant, ...bound])).rows[0].n);
    },
    async bytes() {
      const { rows } = await raw.query(`select relname as name, pg_relation_size(oid) as bytes from pg_class
        where relname like 'subscription%' and relkind in ('r', 'i') order by 2 desc`);
      return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
    },
    async close() {
      await store.close();
      await raw.end();
      await admin.end();
      await server.stop();
    },
  };
}

/** Opens the store of an engine in the folder `data`, and fills it unless an earlier run has. */
export const openAny = (engine: string, records: number, data?: string): Promise<Opened> =>
  engine === 'sqlite' ? openSqlite(records, data) : openPostgres(records, data);
