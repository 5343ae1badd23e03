import { writeFileSync } from 'node:fs';
import { treeCpuSeconds } from '../capacity/process-tree.ts';
import { asRequests, randomPages } from '../report/page-requests.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { loadDataSet } from '../support/data-set.ts';
import { runLoad } from '../support/loader.ts';
import { median } from '../support/median.ts';
import { readOptions } from '../support/options.ts';
import { type StartedService, startOurs } from '../support/our-service.ts';
import { machineFacts } from '../support/results.ts';

// CPU time of a cold request with two workers compared with one process, on both engines: service,
// workers and database together. Two separate services with half of the connections each show what
// two busy processors cost without anything of ours.
//   npm run bench:workers
//   npm run bench:workers -- --records 50000 --rounds 3 --seconds 1 --dry-run

const tenantCount = 200;
/** One issuer, so that every service accepts the tokens of the first one. */
const settings = { PAGE_CACHE_MIB: '0', PUBLIC_URL: 'http://127.0.0.1:8080' };
/** Requests after which the compiler has optimized a process. */
const warmUpRequests = 4_000;
const goal = 1.1;
const options = readOptions({ records: 200_000, rounds: 12, seconds: 2, connections: 32 });

/** One way to serve: its services share the connections. */
interface Side {
  readonly processes: number;
  readonly services: readonly StartedService[];
  readonly requests: readonly Buffer[];
  /** CPU time per request in microseconds, one figure for each round. */
  readonly cpuUs: number[];
}

async function measure(engine: string, opened: BenchStore): Promise<string> {
  const running: StartedService[] = [];
  try {
    const tenants = await loadDataSet(opened.store, options.records, tenantCount);
    const pages = randomPages(tenants, 20_000);
    const start = async (workersOfEach: readonly number[]): Promise<Side> => {
      const services: StartedService[] = [];
      for (const workers of workersOfEach)
        services.push(await startOurs(opened, tenants, settings, undefined, workers));
      running.push(...services);
      const [first] = services;
      return {
        services,
        requests: asRequests(pages, first?.tokens ?? new Map()),
        processes: workersOfEach.reduce((sum, each) => sum + each),
        cpuUs: [],
      };
    };
    const sides = [await start([1]), await start([1, 1]), await start([2])] as const;
    for (const side of sides) await warmUp(opened, side);
    for (let round = 0; round < options.rounds; round += 1) {
      const turn = round % 2 === 0 ? sides : sides.toReversed();
      for (const side of turn) side.cpuUs.push((await runRound(opened, side)).cpuUs);
    }
    const [one, pair, workers] = sides;
    return formatRow(engine, one.cpuUs, pair.cpuUs, workers.cpuUs);
  } finally {
    for (const service of running) await service.stop();
    await opened.close();
  }
}

async function warmUp(opened: BenchStore, side: Side): Promise<void> {
  for (let sent = 0; sent < warmUpRequests * side.processes; ) sent += (await runRound(opened, side)).sent;
}

/** Returns the requests that were sent, and the CPU time of each in microseconds. */
async function runRound({ serverPid }: BenchStore, { services, requests }: Side) {
  const { seconds } = options;
  const roots = [...services.map(({ pid }) => pid), ...(serverPid === undefined ? [] : [serverPid])];
  const connections = Math.max(1, Math.floor(options.connections / services.length));
  const before = treeCpuSeconds(...roots);
  const results = await Promise.all(
    services.map(({ port }) => runLoad({ port, requests, status: 200, connections, seconds })),
  );
  const sent = results.reduce((sum, { perSecond }) => sum + perSecond * seconds, 0);
  return { sent, cpuUs: ((treeCpuSeconds(...roots) - before) * 1e6) / sent };
}

function formatRow(
  engine: string,
  one: readonly number[],
  pair: readonly number[],
  workers: readonly number[],
): string {
  const ratio = (side: readonly number[]): number =>
    median(side.map((cpuUs, round) => cpuUs / (one[round] ?? Number.NaN)));
  const cells = [
    engine,
    ...[one, pair, workers].map((side) => `${median(side).toFixed(0)} µs`),
    ratio(pair).toFixed(2),
    `**${ratio(workers).toFixed(2)}**`,
    `≤ ${goal}: ${ratio(workers) <= goal ? 'met' : 'missed'}`,
  ];
  return `| ${cells.join(' | ')} |`;
}

const rows = [await measure('PostgreSQL', await openBenchPostgres()), await measure('SQLite', await openBenchSqlite())];
const text = `# Two workers

Written by \`npm run bench:workers\`: ${machineFacts()}.

CPU time of a cold request in the service, its workers and PostgreSQL: page 1 of 50 records with an exact total, of one of ${tenantCount} tenants and random twelve
months, in ${options.records.toLocaleString('en')} records, with PAGE_CACHE_MIB=0 and without access log. "Two services" are separate processes with half of the connections each: what two
busy processors cost without anything of ours. ${options.rounds} rounds of ${options.seconds} s a side, sides in turn, ${options.connections} connections in all; medians, and medians of
the ratios within a round. Requests that arrive together share turns of the event loop and writes to connections. Each of two processes has half of
them, so with fewer connections, a request shares less, and the ratios grow.

| engine | one process | two services | two workers | two services ÷ one | two workers ÷ one | goal |
|---|---|---|---|---|---|---|
${rows.join('\n')}
`;
console.log(text);
if (!options.dryRun) writeFileSync(new URL('../results/workers.md', import.meta.url), text);
