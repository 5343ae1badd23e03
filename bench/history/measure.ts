import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkRow } from '../../packages/service/import/check-row.ts';
import { syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import type { SubscriptionRow } from '../../packages/service/storage/subscription-row.ts';
import { readHistoryUse } from '../../packages/service/storage/tables/sweep-versions.ts';
import { findTenant, insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { treeCpuSeconds } from '../capacity/process-tree.ts';
import { measureTables } from '../capacity/storing.ts';
import { measureImport } from '../import/measure.ts';
import { writeChangedSource, writeSource } from '../import/write-sources.ts';
import { asRequests, randomPages } from '../report/page-requests.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { compareSides, ratioOf } from '../support/compare.ts';
import { loadDataSet, until } from '../support/data-set.ts';
import { exactCpuSeconds } from '../support/exact-cpu.ts';
import { median } from '../support/median.ts';
import { readOptions } from '../support/options.ts';
import { type OurService, startOurs } from '../support/our-service.ts';
import { machineFacts, printSection } from '../support/results.ts';

// What the history costs: imports, pages and disk of two equal stores, of which one keeps it, and
// the export of a former moment beside the one of today.
//   npm run bench -- history
//   npm run bench -- history --records 50000 --rounds 3 --engine sqlite

const options = readOptions({ records: 1_000_000, rounds: 4, connections: 16 });
/** Records of the two stores that are compared. */
const comparedRecords = Math.ceil(options.records / 10);
const historyTables = ['subscription_version', 'subscription_commit', 'subscription_erasure'];
const sides = ['with', 'without'] as const;

/** Median, least and greatest. */
const spread = (values: readonly number[]): string =>
  `${median(values).toFixed(3)} (${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)})`;

type Row = readonly [name: string, ratio: string, goal: string];

/** Imports the same files into a store that keeps the history and into one that does not. */
async function compareStores(open: () => Promise<BenchStore>): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-bench-'));
  const opened = { with: await open(), without: await open() };
  const ratios = { first: [] as number[], changed: [] as number[] };
  const importBoth = async (file: string): Promise<number> => {
    const cpu = { with: 0, without: 0 };
    for (const side of Math.random() < 0.5 ? sides : sides.toReversed()) {
      const { environment, ...store } = opened[side];
      const settings = { ...environment, HISTORY_DAYS: side === 'with' ? '30' : '0' };
      cpu[side] = (await measureImport({ ...store, environment: settings }, file, 'import')).cpuSeconds;
    }
    return cpu.with / cpu.without;
  };
  try {
    for (const side of sides) await insertTenant(opened[side].store, 'bench', until);
    let file = join(folder, 'records-0.ndjson');
    await writeSource(file, comparedRecords, 'at random');
    ratios.first.push(await importBoth(file));
    for (let round = 1; round <= options.rounds; round += 1) {
      const changed = join(folder, `records-${round}.ndjson`);
      await writeChangedSource(file, changed);
      ratios.changed.push(await importBoth(changed));
      rmSync(file);
      file = changed;
    }
    for (const side of sides) if (opened[side].serverPid !== undefined) await opened[side].administer('vacuum analyze');
    const { versions } = await readHistoryUse(opened.with.store, { nowSeconds: 0, days: 30 });
    const bytes = await measureTables(opened.with, historyTables);
    return [
      ['first import', spread(ratios.first), '≤ 1.15'],
      ['import of all records, of which 5 % have changed', spread(ratios.changed), '≤ 1.15'],
      ['cold page 1', await comparePages(opened), '1'],
      [`bytes of disk per version, of ${versions}`, (bytes / versions).toFixed(0), ''],
    ];
  } finally {
    for (const side of sides) await opened[side].close();
    rmSync(folder, { recursive: true });
  }
}

/** The CPU time of cold pages with history ÷ without. */
async function comparePages(opened: Record<(typeof sides)[number], BenchStore>): Promise<string> {
  const services: OurService[] = [];
  try {
    const tenant = (await findTenant(opened.with.store, 'bench'))?.tenant as TenantId;
    const pages = randomPages([tenant], 1_500);
    const compared = [];
    for (const side of sides) {
      const settings = { PAGE_CACHE_MIB: '0', HISTORY_DAYS: side === 'with' ? '30' : '0' };
      const server = await startOurs(opened[side], [tenant], settings);
      services.push(server);
      const { serverPid } = opened[side];
      compared.push({
        name: side,
        requests: asRequests(pages, server.tokens),
        status: 200,
        server,
        databaseSeconds: serverPid === undefined ? undefined : () => treeCpuSeconds(serverPid),
      });
    }
    await sleep(2_000); // the sweep at the start
    const [first, second] = await compareSides(compared, { ...options, rounds: 3 * options.rounds, warmUpSeconds: 6 });
    if (first === undefined || second === undefined) throw new RangeError('Cannot compare: there must be two sides');
    const { median: middle, least, greatest } = ratioOf(first, second, 'totalUs');
    return `${middle.toFixed(3)} (${least.toFixed(2)}–${greatest.toFixed(2)}); ${first.totalUs.toFixed(0)} µs, ${second.totalUs.toFixed(0)} µs`;
  } finally {
    for (const service of services) await service.stop();
  }
}

interface Export {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Growth of the resident memory of the service, in bytes. */
  readonly grown: number;
  readonly digest: string;
}

/** Reads a whole report, and samples the memory of the service. */
async function readExport(ours: OurService, serverPid: number | undefined, token: string, query: string) {
  const cpu = (): number => exactCpuSeconds(ours.pid) + (serverPid === undefined ? 0 : treeCpuSeconds(serverPid));
  const before = ours.rssBytes() ?? Number.NaN;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, ours.rssBytes() ?? 0);
  }, 50);
  const [began, cpuBefore, hash] = [performance.now(), cpu(), createHash('sha256')];
  await new Promise<void>((resolve, reject) => {
    const path = `/connect-api/v1/subscription?all=true&${query}`;
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' };
    get({ host: '127.0.0.1', port: ours.port, path, headers }, (response) => {
      response.on('data', (chunk: Buffer) => hash.update(chunk));
      response.on('error', reject);
      response.on('end', () =>
        response.statusCode === 200
          ? resolve()
          : reject(new Error(`Cannot measure: it answered ${response.statusCode}`)),
      );
    }).on('error', reject);
  });
  const seconds = (performance.now() - began) / 1000;
  clearInterval(watch);
  await sleep(100); // PostgreSQL counts a connection that was closed a little later
  return { seconds, cpuSeconds: cpu() - cpuBefore, grown: most - before, digest: hash.digest('hex') } satisfies Export;
}

/** Every hundredth record, with another status. */
function* changedRecords(): Generator<SubscriptionRow> {
  let n = 0;
  for (const row of syntheticRows({ count: options.records, seed: 1, until })) {
    n += 1;
    if (n % 100 !== 0) continue;
    const checked = checkRow({ ...row, status: row.status === 'ACTIVE' ? 'DEPLETED' : 'ACTIVE' });
    if ('faults' in checked) throw new TypeError(JSON.stringify(checked.faults));
    yield checked.row;
  }
}

/** Exports a moment before 1 % of the records changed, beside today's report. */
async function compareExports(opened: BenchStore): Promise<string> {
  const { store, serverPid } = opened;
  let ours: OurService | undefined;
  try {
    const [tenant] = await loadDataSet(store, options.records, 1);
    if (tenant === undefined) throw new RangeError('Cannot measure: there must be a tenant');
    ours = await startOurs(opened, [tenant]);
    const token = ours.tokens.get(tenant) ?? '';
    const formats = ['ndjson', 'csv'] as const;
    const then = { ndjson: '', csv: '' };
    for (const format of formats) then[format] = (await readExport(ours, serverPid, token, `format=${format}`)).digest;
    const revision = (await findTenant(store, tenant))?.revision;
    await store.loadSubscriptions(tenant, [...changedRecords()]);
    if (serverPid !== undefined) await opened.administer('vacuum analyze');
    const rows: string[] = [];
    for (const format of formats) {
      const today: Export[] = [];
      const past: Export[] = [];
      for (let round = 0; round <= options.rounds; round += 1) {
        const now = await readExport(ours, serverPid, token, `format=${format}`);
        const former = await readExport(ours, serverPid, token, `format=${format}&as-of=${revision}`);
        if (former.digest !== then[format])
          throw new Error(`Cannot measure: the ${format} of ${revision} must be as it was`);
        if (round === 0) continue; // warm-up
        today.push(now);
        past.push(former);
      }
      const ratio = (figure: 'cpuSeconds' | 'seconds') =>
        spread(past.map((each, n) => each[figure] / (today[n]?.[figure] ?? Number.NaN)));
      const cells = (exports: readonly Export[]) =>
        [
          median(exports.map(({ cpuSeconds }) => cpuSeconds)).toFixed(2),
          median(exports.map(({ seconds }) => seconds)).toFixed(2),
          (Math.max(...exports.map(({ grown }) => grown)) / 2 ** 20).toFixed(0),
        ].join(' | ');
      rows.push(`| ${format}, today | ${cells(today)} | | |`);
      rows.push(`| ${format}, former moment | ${cells(past)} | ${ratio('cpuSeconds')} | ${ratio('seconds')} |`);
    }
    return `| whole report | CPU s | s | RSS growth, MiB | ÷ today, by CPU | ÷ today, by time |\n|---|---|---|---|---|---|\n${rows.join('\n')}`;
  } finally {
    await ours?.stop();
    await opened.close();
  }
}

const openers = { sqlite: openBenchSqlite, postgres: openBenchPostgres } as const;
for (const [engine, open] of Object.entries(openers)) {
  if (!options.engines.includes(engine)) continue;
  const compared = await compareStores(open);
  const text = `${comparedRecords} records of one tenant, imported again ${options.rounds} times; 50 records a page, any twelve months, no cached responses.

| | with history ÷ without | goal |
|---|---|---|
${compared.map((row) => `| ${row.join(' | ')} |`).join('\n')}

${options.records} records of one tenant, of which 1 % have changed since the former moment. Its body has the digest of the report of then.

${await compareExports(await open())}

${new Date().toISOString().slice(0, 10)}; ${machineFacts()}.`;
  printSection(engine === 'sqlite' ? 'SQLite' : 'PostgreSQL', text);
}
