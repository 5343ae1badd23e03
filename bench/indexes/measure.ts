import { parseArgs } from 'node:util';
import { defaultPageLimits } from '../../src/contract/report.ts';
import { listSubscriptions } from '../../src/report/list-subscriptions.ts';
import { parseReport } from '../../src/report/parse.ts';
import { StorageError } from '../../src/storage/error.ts';
import { readChanges } from '../../src/storage/read/changes.ts';
import type { TenantId } from '../../src/storage/store.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { loadDataSet, until } from '../support/data-set.ts';
import { exactFamilyCpuSeconds } from '../support/exact-cpu.ts';
import { machineFacts, writeSection } from '../support/results.ts';
import { dropped, type IndexCase, kept } from './cases.ts';
import { measureFirstImport } from './first-import.ts';
import { openRaw, type RawDatabase } from './sizes.ts';

// What each index of the records costs and saves: bytes of disk per record, CPU time of a request
// with and without it. On Linux only.
//   npm run bench -- indexes
//   npm run bench -- indexes --records 20000 --dry-run

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '100000' },
    engine: { type: 'string', multiple: true, default: ['SQLite', 'PostgreSQL'] },
    'sizes-only': { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
  },
});
const records = Number(values.records);
const tenantCount = 50;
/** A request is repeated for at least so long, and at least so often. */
const requestMs = 300;
const requestsMin = 20;

const results = {
  file: new URL('../results/indexes.md', import.meta.url),
  title: `# The indexes of the records, measured

Written by \`npm run bench -- indexes\` (\`bench/indexes/\`): ${records} records of ${tenantCount} tenants (Zipf), loaded tenant by tenant in the order of their
creation. Requests are of the largest tenant, with 20 records and the total, without a cache; "without" is the same request after the index was dropped. CPU time is that of the
process with its threads, and of PostgreSQL. "After a first import" is another store, with the same number of records of one tenant, imported in the order of their creation.
`,
};

interface Side {
  readonly opened: BenchStore;
  readonly raw: RawDatabase;
  readonly tenant: TenantId;
}

/**
 * Bytes per record by table and index: after a first import, after ordinary loads, and after the
 * indexes were built anew.
 */
async function readSizes(raw: RawDatabase, engine: string): Promise<string> {
  const imported = await measureFirstImport(engine, records);
  const loaded = await raw.readSizes();
  const isPostgres = engine === 'PostgreSQL';
  await raw.run(isPostgres ? 'vacuum analyze subscription' : 'pragma wal_checkpoint(truncate)');
  await raw.run(isPostgres ? 'reindex table subscription' : 'reindex subscription');
  const rebuilt = await raw.readSizes();
  const sum = (sizes: ReadonlyMap<string, number>) => [...sizes.values()].reduce((total, bytes) => total + bytes, 0);
  const row = (name: string, ...bytes: number[]) =>
    `| ${[name, ...bytes.map((each) => (each / records).toFixed(0))].join(' | ')} |`;
  return [
    '| bytes per record | after a first import | after the loads | indexes built anew |',
    '|---|---|---|---|',
    ...[...loaded]
      .filter(([, bytes]) => bytes >= records)
      .map(([name, bytes]) => row(name, imported.get(name) ?? 0, bytes, rebuilt.get(name) ?? 0)),
    row('**sum**', sum(imported), sum(loaded), sum(rebuilt)),
    '',
  ].join('\n');
}

async function measureAll(side: Side): Promise<string> {
  const lines = [...['| index | request | CPU µs with it | without |', '|---|---|---|---|']];
  for (const each of kept) lines.push(await measureKept(side, each));
  lines.push('', ...['| dropped index | request | CPU µs with it | without |', '|---|---|---|---|']);
  for (const each of dropped) lines.push(await measureDropped(side, each));
  return `${lines.join('\n')}\n`;
}

async function measureKept(side: Side, { index, query }: IndexCase): Promise<string> {
  const withIndex = await measureRequest(side, query);
  const definition = await side.raw.readDefinition(index);
  await side.raw.run(`drop index ${index}`);
  const without = await measureRequest(side, query);
  await side.raw.run(definition);
  return `| ${[name(index), code(query), us(withIndex), us(without)].join(' | ')} |`;
}

async function measureDropped(side: Side, { index, alternative, query }: IndexCase): Promise<string> {
  const without = await measureRequest(side, query);
  await side.raw.run(`create index ${index} ${alternative}`);
  const withIndex = await measureRequest(side, query);
  await side.raw.run(`drop index ${index}`);
  return `| ${[name(index), code(query), us(withIndex), us(without)].join(' | ')} |`;
}

const name = (index: string): string => code(index.replace(/^(subscription|former)_/, ''));
const code = (text: string): string => `\`${text}\``;
/** Microseconds; a request that the store gave up has none. */
const us = (seconds: number): string => (Number.isNaN(seconds) ? 'timeout' : (seconds * 1e6).toFixed(0));

/** CPU seconds of a request. */
async function measureRequest({ opened, tenant }: Side, query: string): Promise<number> {
  const { store } = opened;
  const context = { store, limits: defaultPageLimits, now: () => until, reportUrl: 'http://localhost/r' };
  const request = async (): Promise<unknown> =>
    query === 'changes'
      ? store.readTenant(
          tenant,
          (reader) => readChanges(reader, { after: { revision: 1, id: 'czEtMjAw' }, newestFirst: false, limit: 50 }),
          {
            isBounded: true,
          },
        )
      : listSubscriptions(context, tenant, parseReport(query, context, 'json'));
  if (Number.isNaN(await cpuOf(opened, async () => void (await request())))) return Number.NaN;
  let requests = 0;
  const seconds = await cpuOf(opened, async () => {
    for (
      const begin = performance.now();
      requests < requestsMin || performance.now() - begin < requestMs;
      requests += 1
    )
      await request();
  });
  return seconds / requests;
}

/** CPU seconds of some work; `NaN` if the store gave it up. */
async function cpuOf({ serverPid }: BenchStore, work: () => Promise<void>): Promise<number> {
  const now = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6 + (serverPid === undefined ? 0 : exactFamilyCpuSeconds(serverPid));
  };
  const before = now();
  try {
    await work();
  } catch (error) {
    if (error instanceof StorageError) return Number.NaN;
    throw error;
  }
  return now() - before;
}

for (const engine of values.engine) {
  const opened = engine === 'SQLite' ? await openBenchSqlite() : await openBenchPostgres();
  const raw = await openRaw(opened);
  try {
    const [tenant] = await loadDataSet(opened.store, records, tenantCount);
    if (tenant === undefined) throw new RangeError('Cannot measure: there must be a tenant');
    const sizes = await readSizes(raw, engine);
    const costs = values['sizes-only'] ? '' : await measureAll({ opened, raw, tenant });
    const text = `${new Date().toISOString().slice(0, 10)}; ${machineFacts()}.\n\n${sizes}\n${costs}`;
    if (values['dry-run']) console.log(text);
    else writeSection(engine, text, results);
  } finally {
    await raw.close();
    await opened.close();
  }
}
