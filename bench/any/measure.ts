import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { defaultPageLimits } from '../../src/contract/report.ts';
import { ReportError } from '../../src/report/error.ts';
import { planFilter } from '../../src/report/filters.ts';
import { getSubscriptionSummary } from '../../src/report/get-subscription-summary.ts';
import { listSubscriptions } from '../../src/report/list-subscriptions.ts';
import { parseReport } from '../../src/report/parse.ts';
import { parseSummary } from '../../src/report/parse-summary.ts';
import { StorageError } from '../../src/storage/error.ts';
import { openStore } from '../../src/storage/open-store.ts';
import type { SqlValue, Store, TenantId } from '../../src/storage/store.ts';
import {
  and,
  binder,
  boundsOf,
  filterConditions,
  type SubscriptionFilter,
} from '../../src/storage/subscription-filter.ts';
import { findTenant, insertTenant } from '../../src/storage/tables/tenant.ts';
import { startPostgres } from '../../tools/postgres-server.ts';
import { until } from '../support/data-set.ts';
import { exactFamilyCpuSeconds } from '../support/exact-cpu.ts';
import { type DrawnQuery, drawQuery, seeded } from './draw.ts';
import { fillPostgres, fillSqlite } from './fill.ts';

// What any question costs: random combinations of the contract's filters, orders and dimensions, as
// CPU time of the process and of PostgreSQL, without HTTP and caches. On Linux only.
//   npm run bench:any -- --engine sqlite --records 1000000 --queries 500 --seed 23
// `--data FOLDER` keeps the store for the next run; `--check` compares totals with SQL; `--warm`
// runs all queries once before it measures them, so that the database has its pages in memory;
// `--deadline` is that of a query in milliseconds by the clock, as of a request.

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'sqlite' },
    records: { type: 'string', default: '1000000' },
    queries: { type: 'string', default: '500' },
    seed: { type: 'string', default: '23' },
    data: { type: 'string' },
    check: { type: 'boolean', default: false },
    warm: { type: 'boolean', default: false },
    slowest: { type: 'string', default: '10' },
    deadline: { type: 'string', default: '7000' },
  },
});
const records = Number(values.records);

interface Opened {
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

const cpuSeconds = (pid?: number): number => {
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

async function openSqlite(): Promise<Opened> {
  const folder = values.data ?? `/tmp/subreport-any-${process.pid}`;
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

async function openPostgres(): Promise<Opened> {
  const settings = ['shared_buffers=3GB', 'max_wal_size=8GB', 'maintenance_work_mem=512MB', 'autovacuum=off'];
  const server = await startPostgres([...settings, 'max_parallel_workers_per_gather=0'], 18, values.data);
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

interface Measured extends DrawnQuery {
  readonly ms: number;
  readonly total: number;
  /** Records that the narrowest of its filters alone selects. */
  readonly narrowest: number;
}

/** The filters of one parsed query, each alone: bounds of a date together. */
function filtersAlone(filter: SubscriptionFilter): readonly SubscriptionFilter[] {
  const { dateColumn, afterSeconds: _after, beforeSeconds: _before, furtherBounds: _further, ...valued } = filter;
  const bounds = boundsOf(filter);
  return [...bounds, ...Object.entries(valued).map(([name, value]) => ({ dateColumn, [name]: value }))];
}

async function narrowestOf(opened: Opened, tenant: TenantId, filter: SubscriptionFilter): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (const alone of filtersAlone(filter)) {
    const key = JSON.stringify(alone);
    const n = countedAlone.get(key) ?? (await opened.count(alone, tenant));
    countedAlone.set(key, n);
    least = Math.min(least, n);
  }
  return least;
}

const countedAlone = new Map<string, number>();

/** CPU milliseconds of one query, and its total; `undefined` if the service rejects it. */
async function measure(opened: Opened, tenant: TenantId, drawn: DrawnQuery): Promise<Measured | undefined> {
  const context = { limits: defaultPageLimits, now: () => until, reportUrl: 'http://localhost/r' };
  const store = opened.store.within(performance.now() + Number(values.deadline));
  const before = cpuSeconds(opened.serverPid);
  try {
    const { headers } =
      drawn.kind === 'summary'
        ? await getSubscriptionSummary(store, tenant, parseSummary(drawn.text, context))
        : await listSubscriptions({ ...context, store }, tenant, parseReport(drawn.text, context, 'json'));
    const ms = (cpuSeconds(opened.serverPid) - before) * 1000;
    const total = Number(headers['x-total-count']);
    const parsed =
      drawn.kind === 'summary' ? parseSummary(drawn.text, context) : parseReport(drawn.text, context, 'json');
    const filter = planFilter(parsed);
    const counted = values.check ? await opened.count(filter, tenant) : total;
    if (counted !== total) throw new Error(`${drawn.text}: the total is ${total}, SQL counts ${counted}`);
    return { ...drawn, ms, total, narrowest: await narrowestOf(opened, tenant, filter) };
  } catch (error) {
    if (error instanceof ReportError) return undefined;
    if (error instanceof StorageError)
      return { ...drawn, ms: Number.POSITIVE_INFINITY, total: 0, narrowest: Number.POSITIVE_INFINITY };
    throw error;
  }
}

function toRow(name: string, measured: readonly Measured[]): string {
  const sorted = measured.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number): string => {
    const ms = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
    return ms === Number.POSITIVE_INFINITY ? '503' : ms.toFixed(ms < 10 ? 1 : 0);
  };
  return `| ${[name, sorted.length, at(0.5), at(0.9), at(1)].join(' | ')} |`;
}

const opened = values.engine === 'sqlite' ? await openSqlite() : await openPostgres();
const tenant = (await findTenant(opened.store, 'tenant-001'))?.tenant as TenantId;
let random = seeded(Number(values.seed));
const measured: Measured[] = [];
// the first queries open connections, start threads and compile
for (let n = 0; n < 20; n += 1) await measure(opened, tenant, drawQuery(random));
for (const isMeasured of values.warm ? [false, true] : [true]) {
  random = seeded(Number(values.seed));
  measured.length = 0;
  while (measured.length < Number(values.queries)) {
    const result = await measure(opened, tenant, drawQuery(random));
    if (result === undefined) continue;
    measured.push(result);
    if (isMeasured && measured.length % 100 === 0) console.error(`${measured.length} queries`);
  }
}
console.log(
  `${values.engine}, ${records} records, seed ${values.seed}, load ${opened.loadCpuSeconds.toFixed(1)} s of CPU\n`,
);
console.log('| question | queries | median, ms | 90 % | worst |\n|---|---|---|---|---|');
console.log(toRow('**all**', measured));
for (const [name, some] of [...Map.groupBy(measured, ({ kindOfQuestion }) => kindOfQuestion)].sort())
  console.log(toRow(name, some));
console.log(
  toRow(
    'a filter alone selects at most 10,000',
    measured.filter(({ narrowest }) => narrowest <= 10_000),
  ),
);
console.log(
  toRow(
    'at most 10,000 records',
    measured.filter(({ total }) => total <= 10_000),
  ),
);
console.log(`503: ${measured.filter(({ ms }) => ms === Number.POSITIVE_INFINITY).length}\n`);
for (const { ms, total, text, kind } of measured.toSorted((a, b) => b.ms - a.ms).slice(0, Number(values.slowest)))
  console.log(`${ms.toFixed(0)} ms, ${total} records: ${kind} ${decodeURIComponent(text)}`);
const bytes = await opened.bytes();
console.log(`\n| bytes per record | |\n|---|---|`);
for (const [name, each] of bytes) if (each >= records) console.log(`| ${name} | ${(each / records).toFixed(1)} |`);
console.log(`| sum | ${([...bytes.values()].reduce((sum, each) => sum + each, 0) / records).toFixed(1)} |`);
await opened.close();
