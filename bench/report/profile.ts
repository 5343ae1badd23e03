import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { loadDataSet } from '../support/data-set.ts';
import { runLoad } from '../support/loader.ts';
import { type OurService, startOurs } from '../support/our-service.ts';
import { machineFacts, writeSection } from '../support/results.ts';
import { asRequests, randomPages } from './page-requests.ts';
import { type CpuProfile, type ProfileShares, sharesOf } from './profile-groups.ts';

// Where the CPU time of a cold page 1 goes, by stage: the requests of `cold.ts` with a CPU profile.
//   npm run bench -- profile --engine sqlite --functions 40 --dry-run

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '8' },
    engine: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    functions: { type: 'string', default: '0' },
    // of another checkout, for the figures before a change
    program: { type: 'string', default: 'src/cli/main.ts' },
    title: { type: 'string', default: 'Cold page' },
    'dry-run': { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);
const records = Number(values.records);
const tenantCount = 200;
const connections = 32;

/** CPU time in microseconds per request, measured without the profiler. */
interface Measured extends ProfileShares {
  /** Of the main thread in system calls, and outside of them. */
  readonly systemUs: number;
  readonly userUs: number;
  /** Of all threads. */
  readonly allUs: number;
}

for (const engine of values.engine) {
  const isSqlite = engine === 'sqlite';
  const opened = isSqlite ? await openBenchSqlite() : await openBenchPostgres();
  try {
    report(isSqlite ? 'SQLite' : 'PostgreSQL', await measure(opened));
  } finally {
    await opened.close();
  }
}

async function measure(opened: BenchStore): Promise<Measured> {
  const tenants = await loadDataSet(opened.store, records, tenantCount);
  if (opened.serverPid !== undefined) await opened.administer('vacuum analyze');
  const file = join(opened.folder, 'profile.json');
  const profiled = { NODE_OPTIONS: `--import=${new URL('record-profile.ts', import.meta.url)}`, PROFILE_FILE: file };
  const ours = await startOurs(opened, tenants, { PAGE_CACHE_MIB: '0', ...profiled }, values.program);
  try {
    const requests = asRequests(randomPages(tenants, 20_000), ours.tokens);
    const load = () => runLoad({ port: ours.port, requests, connections, seconds, status: 200 });
    await load(); // until V8 has optimized
    const [before, allBefore] = [mainThreadSeconds(ours), ours.cpuSeconds() ?? Number.NaN];
    const { perSecond } = await load();
    const after = mainThreadSeconds(ours);
    const toUs = 1e6 / (perSecond * seconds);
    const systemUs = (after.system - before.system) * toUs;
    const userUs = (after.user - before.user) * toUs;
    const allUs = ((ours.cpuSeconds() ?? Number.NaN) - allBefore) * toUs;
    process.kill(ours.pid, 'SIGUSR2');
    await load();
    process.kill(ours.pid, 'SIGUSR2');
    while (!existsSync(file)) await sleep(50);
    await sleep(500); // until it is written
    return { ...sharesOf(JSON.parse(readFileSync(file, 'utf8')) as CpuProfile), systemUs, userUs, allUs };
  } finally {
    await ours.stop();
    rmSync(file, { force: true });
  }
}

/** CPU time of the main thread; fields 14 and 15 of its `stat`, in hundredths of a second. */
function mainThreadSeconds({ pid }: OurService): { readonly user: number; readonly system: number } {
  const text = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8');
  const [user = 0, system = 0] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map((ticks) => Number(ticks) / 100);
  return { user, system };
}

function report(engine: string, { stages, functions, systemUs, userUs, allUs }: Measured): void {
  const row = (name: string, us: number): string =>
    `| ${name} | ${us.toFixed(1)} | ${((us / allUs) * 100).toFixed(0)} % |`;
  const table = [
    '| stage | CPU µs a request | |',
    '|---|---|---|',
    row('system calls', systemUs),
    ...[...stages].map(([name, share]) => row(name, share * userUs)),
    row('other threads (V8, libuv)', allUs - systemUs - userUs),
    row('all', allUs),
  ];
  for (const [name, share] of [...functions].slice(0, Number(values.functions)))
    console.log(`${(share * userUs).toFixed(1).padStart(6)} ${name}`);
  const text = `${records} records of ${tenantCount} tenants; page 1 of 50 records as in "Cold", LOG_LEVEL=warn, PAGE_CACHE_MIB=0, ${connections} connections.\n\n${machineFacts()}.\n\n${table.join('\n')}`;
  if (values['dry-run']) console.log(text);
  else writeSection(`${values.title} by stage, ${engine}`, text, results());
}

function results() {
  return {
    file: new URL('../results/profile.md', import.meta.url),
    title: `# A cold page by stage

Written by \`npm run bench -- profile\`: the self time of each function in a CPU profile of V8, summed by the files of each stage, as a share of the user time of the main thread without the
profiler. A native function counts for the file that calls it. Other load on the machine raises all figures; compare those of one run.
`,
  };
}
