import { writeFileSync } from 'node:fs';
import { treeCpuSeconds } from '../capacity/process-tree.ts';
import { asRequests, randomPages } from '../report/page-requests.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { compareSides, type Measured, ratioOf, type Side } from '../support/compare.ts';
import { loadDataSet } from '../support/data-set.ts';
import { readOptions } from '../support/options.ts';
import { type StartedService, startOurs } from '../support/our-service.ts';
import { machineFacts } from '../support/results.ts';

// CPU time of a cold request with two workers compared with one process, on both engines: service,
// workers and database together.
//   npm run bench:workers
//   npm run bench:workers -- --records 50000 --rounds 3 --seconds 1 --dry-run

const tenantCount = 200;
/** Each worker compiles and caches for itself: some thousand requests each. */
const warmUp = { rounds: 1, seconds: 5 };
const goal = 1.1;
const options = readOptions({ records: 200_000, rounds: 9, seconds: 2 });

async function measure(engine: string, opened: BenchStore): Promise<string> {
  const running: StartedService[] = [];
  try {
    const tenants = await loadDataSet(opened.store, options.records, tenantCount);
    const pages = randomPages(tenants, 20_000);
    const start = async (workers: number): Promise<Side> => {
      const service = await startOurs(opened, tenants, { PAGE_CACHE_MIB: '0' }, undefined, workers);
      running.push(service);
      const roots = [service.pid, ...(opened.serverPid === undefined ? [] : [opened.serverPid])];
      const server = { port: service.port, cpuSeconds: () => treeCpuSeconds(...roots) };
      return { name: `${workers}`, server, requests: asRequests(pages, service.tokens), status: 200 };
    };
    const sides = [await start(1), await start(2)];
    await compareSides(sides, { ...options, ...warmUp });
    return formatRow(engine, await compareSides(sides, options));
  } finally {
    for (const service of running) await service.stop();
    await opened.close();
  }
}

function formatRow(engine: string, [one, two]: readonly Measured[]): string {
  if (one === undefined || two === undefined) throw new TypeError('Cannot compare: both sides must be measured');
  const { median, least, greatest } = ratioOf(two, one, 'cpuUs');
  const cells = [
    engine,
    `${one.perSecond.toFixed(0)}/s, ${one.cpuUs.toFixed(0)} µs`,
    `${two.perSecond.toFixed(0)}/s, ${two.cpuUs.toFixed(0)} µs`,
    `**${median.toFixed(2)}** (${least.toFixed(2)}–${greatest.toFixed(2)})`,
    `≤ ${goal}: ${median <= goal ? 'met' : 'missed'}`,
  ];
  return `| ${cells.join(' | ')} |`;
}

const rows = [await measure('PostgreSQL', await openBenchPostgres()), await measure('SQLite', await openBenchSqlite())];
const text = `# Two workers

Written by \`npm run bench:workers\`: ${machineFacts()}.

Page 1 of 50 records with an exact total: a random one of ${tenantCount} tenants, random twelve months, ${options.records.toLocaleString('en')} records, PAGE_CACHE_MIB=0, no access log. Each cell
contains the rate and the CPU time of the service, its workers and PostgreSQL per request. ${options.rounds} rounds of ${options.seconds} s a side, sides in turn,
${options.connections} connections. Medians; the ratio is the median of the ratios within a round, with the least and the greatest in brackets.

| engine | one process | two workers | CPU ratio | goal |
|---|---|---|---|---|
${rows.join('\n')}
`;
console.log(text);
if (!options.dryRun) writeFileSync(new URL('../results/workers.md', import.meta.url), text);
