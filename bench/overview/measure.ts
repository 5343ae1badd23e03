import { parseArgs } from 'node:util';
import { checkRow } from '../../src/import/check-row.ts';
import { syntheticRows } from '../../src/import/synthetic-rows.ts';
import type { Store, TenantId } from '../../src/storage/store.ts';
import type { SubscriptionRow } from '../../src/storage/subscription-row.ts';
import { findTenant, insertTenant } from '../../src/storage/tables/tenant.ts';
import { treeCpuSeconds } from '../capacity/process-tree.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { median } from '../support/median.ts';
import { type StartedService, startOurs } from '../support/our-service.ts';
import { machineFacts, writeSection } from '../support/results.ts';
import { type ConsoleRequest, consoleRequests } from './requests.ts';

// What the overview page of the console costs with a large tenant: CPU time of the service and of
// PostgreSQL, and wall time, of each request. On Linux only.
//   node bench/overview/measure.ts
//   node bench/overview/measure.ts --records 20000 --rounds 3 --dry-run

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '10' },
    engine: { type: 'string', multiple: true, default: ['SQLite', 'PostgreSQL'] },
    'dry-run': { type: 'boolean', default: false },
  },
});
const records = Number(values.records);
const rounds = Number(values.rounds);
/** Cached responses take less than the clock of CPU times can measure, 10 ms. */
const cachedRounds = rounds * 20;

const results = {
  file: new URL('../results/overview.md', import.meta.url),
  title: `# The console's overview, measured

Written by \`node bench/overview/measure.ts\`: one tenant with ${records.toLocaleString('en')} synthetic records, one request at a time over loopback. CPU time is that of the service and of
PostgreSQL together, the mean of ${rounds} requests without a cached response, and of ${cachedRounds} that are answered with 304; wall time is a median. The first rows are the requests that the
page sends when it opens, with their sum. PostgreSQL is measured after \`vacuum analyze\`. Other load on the machine adds to both.
`,
};

interface Measured {
  readonly path: string;
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly unchangedCpuMs: number;
}

for (const engine of values.engine) {
  const text = toMarkdown(await measureEngine(engine));
  if (values['dry-run']) console.log(text);
  else writeSection(engine, text, results);
}

async function measureEngine(engine: string): Promise<readonly Measured[]> {
  const opened = engine === 'SQLite' ? await openBenchSqlite() : await openBenchPostgres();
  try {
    const tenant = await load(opened.store);
    if (engine !== 'SQLite') await opened.administer('vacuum analyze');
    const uncached = await startOurs(opened, [tenant], { PAGE_CACHE_MIB: '0', REQUEST_SECONDS_MAX: '60' });
    const cached = await startOurs(opened, [tenant], { REQUEST_SECONDS_MAX: '60' });
    const measured: Measured[] = [];
    for (const request of consoleRequests)
      measured.push(await measureRequest(opened, tenant, uncached, cached, request));
    await uncached.stop();
    await cached.stop();
    return withSum(measured);
  } finally {
    await opened.close();
  }
}

/** The records end at the current time, because the page asks for those that expire soon. */
async function load(store: Store): Promise<TenantId> {
  const until = Math.floor(Date.now() / 1000);
  await insertTenant(store, 'acme', until);
  const tenant = (await findTenant(store, 'acme'))?.tenant;
  if (tenant === undefined) throw new TypeError('Cannot load the data: a tenant must exist once it was inserted');
  let batch: SubscriptionRow[] = [];
  for (const row of syntheticRows({ count: records, seed: 1, until })) {
    const checked = checkRow(row);
    if ('faults' in checked) throw new TypeError(`Cannot load the data: ${JSON.stringify(checked.faults)}`);
    batch.push(checked.row);
    if (batch.length < 5_000) continue;
    await store.loadSubscriptions(tenant, batch);
    batch = [];
  }
  await store.loadSubscriptions(tenant, batch);
  return tenant;
}

async function measureRequest(
  { serverPid }: BenchStore,
  tenant: TenantId,
  uncached: StartedService,
  cached: StartedService,
  { path }: ConsoleRequest,
): Promise<Measured> {
  const get = async ({ port, tokens }: StartedService, etag = ''): Promise<Response> => {
    const headers = { authorization: `Bearer ${tokens.get(tenant)}`, 'if-none-match': etag };
    const response = await fetch(`http://127.0.0.1:${port}/connect-api${path}`, { headers });
    await response.arrayBuffer();
    if (!response.ok && response.status !== 304) throw new Error(`Cannot measure ${path}: status ${response.status}`);
    return response;
  };
  const cpuOf = ({ pid }: StartedService): number =>
    treeCpuSeconds(pid, ...(serverPid === undefined ? [] : [serverPid])) * 1000;
  const run = async (service: StartedService, times: number, etag?: string) => {
    const walls: number[] = [];
    const before = cpuOf(service);
    for (let round = 0; round < times; round += 1) {
      const started = performance.now();
      await get(service, etag);
      walls.push(performance.now() - started);
    }
    return { cpuMs: (cpuOf(service) - before) / times, wallMs: median(walls) };
  };
  await get(uncached); // reads the pages of the database into memory
  const fresh = await run(uncached, rounds);
  const etag = (await get(cached)).headers.get('etag') ?? '';
  const unchanged = await run(cached, cachedRounds, etag);
  return { path, ...fresh, unchangedCpuMs: unchanged.cpuMs };
}

function withSum(measured: readonly Measured[]): readonly Measured[] {
  const opening = measured.slice(0, consoleRequests.filter(({ isFirst }) => isFirst).length);
  const sum = (of: (each: Measured) => number): number => opening.reduce((total, each) => total + of(each), 0);
  const all = {
    path: 'sum of the requests above',
    cpuMs: sum(({ cpuMs }) => cpuMs),
    wallMs: sum(({ wallMs }) => wallMs),
    unchangedCpuMs: sum(({ unchangedCpuMs }) => unchangedCpuMs),
  };
  return [...opening, all, ...measured.slice(opening.length)];
}

function toMarkdown(measured: readonly Measured[]): string {
  const rows = measured.map(({ path, cpuMs, wallMs, unchangedCpuMs }) => {
    const name = path.startsWith('/') ? `\`${path.replace('/v1/subscription', '…')}\`` : path;
    return `| ${name} | ${cpuMs.toFixed(1)} | ${wallMs.toFixed(1)} | ${unchangedCpuMs.toFixed(2)} |`;
  });
  const header = '| request | CPU, ms | wall, ms | CPU of a 304, ms |\n|---|---|---|---|';
  return [`${new Date().toISOString().slice(0, 10)}; ${machineFacts()}.`, '', header, ...rows].join('\n');
}
