import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { checkRow } from '../../packages/service/import/check-row.ts';
import { type SyntheticRow, syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import type { Store, TenantId } from '../../packages/service/storage/store.ts';
import type { SubscriptionRow } from '../../packages/service/storage/subscription-row.ts';
import { insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { until } from '../support/data-set.ts';
import { machineFacts, printSection } from '../support/results.ts';
import { queryBench } from './storing.ts';

// Disk space that a store frees: the write-ahead log of SQLite after a slow export, and the tables
// and indexes of PostgreSQL after nightly replacements, beside their size after the first load.
//   npm run bench -- disk
//   npm run bench -- disk --records 20000 --nights 5 --loads 20
//   npm run bench -- disk --engine PostgreSQL --setting autovacuum_vacuum_scale_factor=0.02

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '200000' },
    nights: { type: 'string', default: '30' },
    percent: { type: 'string', default: '5' },
    loads: { type: 'string', default: '60' },
    setting: { type: 'string', multiple: true, default: [] },
    engine: { type: 'string', multiple: true, default: ['SQLite', 'PostgreSQL'] },
  },
});
const records = Number(values.records);
const nights = Number(values.nights);
const share = Number(values.percent) / 100;
const batchRows = 5_000;
const tenant = 'bench' as TenantId;

/** The records of a night: some have another status, end and device than in the night before. */
function* rowsOfNight(night: number): Generator<SubscriptionRow> {
  const every = Math.round(1 / share);
  let index = 0;
  for (const row of syntheticRows({ count: records, seed: 1, until })) {
    // the nights in which this record has changed, spread over all records
    const changes = Math.floor((night + ((index * 7_919) % every)) / every);
    yield toRow(changes === 0 ? row : changed(row, changes));
    index += 1;
  }
}

const changed = (row: SyntheticRow, changes: number): SyntheticRow => ({
  ...row,
  status: changes % 2 === 0 ? 'ACTIVE' : 'EXPIRED',
  expirationDate: new Date(Date.parse(String(row.expirationDate)) + changes * 86_400_000).toISOString(),
  device_id: `${String(row.device_id).slice(0, -2)}${String(changes).padStart(2, '0')}`,
});

function toRow(row: SyntheticRow): SubscriptionRow {
  const checked = checkRow(row);
  if ('faults' in checked) throw new TypeError(`Cannot measure: ${JSON.stringify(checked.faults)}`);
  return checked.row;
}

async function loadFirst(store: Store): Promise<void> {
  await insertTenant(store, tenant, until);
  for (const batch of batchesOf(rowsOfNight(0))) await store.loadSubscriptions(tenant, batch);
}

async function replace(store: Store, night: number): Promise<void> {
  const replacement = await store.openReplacement(tenant);
  try {
    for (const batch of batchesOf(rowsOfNight(night))) await replacement.add(batch);
    await replacement.finish(false);
  } finally {
    await replacement.close();
  }
}

function* batchesOf(rows: Iterable<SubscriptionRow>): Generator<SubscriptionRow[]> {
  let batch: SubscriptionRow[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < batchRows) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** The size of the write-ahead log in MiB at the steps of a slow export. */
async function measureLog(opened: BenchStore): Promise<string[][]> {
  const { store, folder } = opened;
  const logMib = (): string => (statSync(join(folder, 'subreport.db-wal')).size / 2 ** 20).toFixed(0);
  await loadFirst(store);
  const rows = [...syntheticRows({ count: records, seed: 1, until })];
  let load = 0;
  const loadSome = async (loads: number): Promise<void> => {
    for (const last = load + loads; load < last; load += 1) {
      const some = rows.filter(
        (_, index) => (index * 7_919 + load) % Math.ceil(records / (store.servingBatchRowsMax ?? 500)) === 0,
      );
      await store.loadSubscriptions(
        tenant,
        some.map((row) => toRow({ ...row, device_id: `device-${load}` })),
      );
    }
  };
  await loadSome(5);
  const steps = [['before the export', logMib()]];
  const snapshot = await store.openSnapshot(tenant, 3_600_000);
  const lines = snapshot.streamLines('select record from subscription where tenant_id = $1', [], 100);
  for await (const _ of lines) break; // the reader has read its first lines, and waits
  await loadSome(Number(values.loads));
  steps.push([`after ${values.loads} loads beside it`, logMib()]);
  await snapshot.close();
  steps.push(['when it has ended', logMib()]);
  for (let write = 1; write <= 3; write += 1) {
    await insertTenant(store, `after-${write}`, until);
    await sleep(2_000); // a checkpoint copies the log
    steps.push([`after write ${write}`, logMib()]);
  }
  return steps;
}

/** Bytes of tables and indexes; of a version, those of its table. */
const selectSizes = `select c.relname as name, pg_relation_size(c.oid) as bytes from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'i')
    and (c.relname ~ '^subscription(_span)?(_|$)')`;

type Sizes = ReadonlyMap<string, number>;

async function readSizes(opened: BenchStore): Promise<Sizes> {
  const rows = await queryBench(opened, selectSizes);
  return new Map(rows.map(({ name, bytes }) => [String(name), Number(bytes)]));
}

/** Waits until autovacuum has nothing left to do, as it has in the day after a load. */
async function untilVacuumed(opened: BenchStore): Promise<void> {
  for (let idle = 0; idle < 3; ) {
    await sleep(1_500);
    const [row] = await queryBench(
      opened,
      "select count(*) as n from pg_stat_activity where backend_type = 'autovacuum worker' and datname = current_database()",
    );
    idle = Number(row?.n) === 0 ? idle + 1 : 0;
  }
}

async function measureBloat(opened: BenchStore): Promise<string[][]> {
  const { store } = opened;
  // what a day has time for happens between two nights
  await opened.administer('alter system set autovacuum_naptime = 1');
  await opened.administer('alter system set autovacuum_vacuum_cost_delay = 0');
  await opened.administer('select pg_reload_conf()');
  for (const setting of values.setting) await opened.administer(`alter table subscription set (${setting})`);
  await loadFirst(store);
  await untilVacuumed(opened);
  const fresh = await readSizes(opened);
  for (let night = 1; night <= nights; night += 1) {
    await replace(store, night);
    await untilVacuumed(opened);
    console.error(`night ${night}: ${sumOf(await readSizes(opened), isCurrent)}`);
  }
  const after = await readSizes(opened);
  await opened.administer('vacuum full');
  const full = await readSizes(opened);
  const rows = [...after].map(([name, bytes]) => [name, fresh.get(name) ?? 0, bytes, full.get(name) ?? 0] as const);
  const sum = ['records, their indexes and counts', ...[fresh, after, full].map((sizes) => sumOf(sizes, isCurrent))];
  return [...rows.toSorted((a, b) => b[2] - a[2]), sum as [string, number, number, number]].map(
    ([name, first, last, rewritten]) => [
      name,
      ...[first, last, rewritten].map((bytes) => (bytes / 2 ** 20).toFixed(1)),
      ratio(last, first),
      ratio(last, rewritten),
    ],
  );
}

/** Not the history: it has more rows each night. */
const isCurrent = (name: string): boolean => !/_(version|commit|tombstone|erasure)/.test(name);

const sumOf = (sizes: Sizes, counts: (name: string) => boolean): number =>
  [...sizes].reduce((sum, [name, bytes]) => sum + (counts(name) ? bytes : 0), 0);

const ratio = (bytes: number, base: number): string => (base === 0 ? '-' : (bytes / base).toFixed(2));

function toMarkdown(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [`${new Date().toISOString().slice(0, 10)}; ${machineFacts()}; ${records} records.`, '', ...lines].join('\n');
}

async function run(engine: string): Promise<void> {
  const opened = engine === 'SQLite' ? await openBenchSqlite() : await openBenchPostgres();
  try {
    if (engine === 'SQLite')
      printSection(engine, toMarkdown(['step', 'MiB of the write-ahead log'], await measureLog(opened)));
    else {
      const header = ['MiB', 'first load', `${nights} nights later`, 'vacuum full', '÷ first load', '÷ vacuum full'];
      printSection(engine, toMarkdown(header, await measureBloat(opened)));
    }
  } finally {
    await opened.close();
  }
}

for (const engine of values.engine) await run(engine);
