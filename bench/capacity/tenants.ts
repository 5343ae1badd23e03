import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startMeteredService } from '../../test/support/metered-service.ts';
import { type BenchStore, databaseSeconds, emptyStore, openBenchOf } from '../support/bench-store.ts';
import { exactCpuSeconds } from '../support/exact-cpu.ts';
import { runMeasured, type Used } from '../support/measured-command.ts';
import { databaseFacts, machineFacts, printSection } from '../support/results.ts';
import { fillTenants } from './fill-tenants.ts';
import { residentMib } from './process-tree.ts';

// What grows with the number of tenants: each work of the service and of the commands that is about
// all of them. On Linux only.
//   npm run bench -- tenants
//   npm run bench -- tenants --tenants 1000 --tenants 2000 --large 20000 --engine SQLite
//   npm run bench -- tenants --tenants 3000 --engine Citus     on a coordinator and two workers

const { values } = parseArgs({
  options: {
    tenants: { type: 'string', multiple: true, default: ['1000', '3000', '10000'] },
    large: { type: 'string', default: '100000' },
    engine: { type: 'string', multiple: true, default: ['SQLite', 'PostgreSQL'] },
  },
});

/** What some work of one number of tenants has used; of the service, its longest turn too. */
interface Measured extends Used {
  readonly work: string;
  /** CPU milliseconds of the longest turn of the event loop; absent for commands. */
  readonly turnMs?: number;
}

async function measure(engine: string, tenants: number): Promise<readonly Measured[]> {
  const opened = await openBenchOf(engine);
  try {
    await fillTenants(opened, tenants, Number(values.large));
    if (opened.serverPid !== undefined) await opened.administer('vacuum analyze');
    return [...(await measureService(opened)), ...(await measureCommands(opened))];
  } finally {
    await opened.close();
  }
}

async function measureService(opened: BenchStore): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  const created = await runMeasured(opened, ['operator', 'create', '--name', 'bench', '--json']);
  const { token } = JSON.parse(created.output) as { readonly token: string };
  const [began, before] = [performance.now(), databaseSeconds(opened)];
  const service = await startMeteredService({ ...opened.environment, CHECK_HOURS: '0' });
  const add = (work: string, from: { seconds: number; process: number; database: number }, turnMs?: number) =>
    measured.push({
      work,
      seconds: performance.now() / 1000 - from.seconds,
      process: exactCpuSeconds(service.pid) - from.process,
      database: databaseSeconds(opened) - from.database,
      memoryMib: residentMib(service.pid),
      ...(turnMs !== undefined && { turnMs }),
    });
  add('start until it serves', { seconds: began / 1000, process: 0, database: before });
  const run = async (work: string, perform: () => Promise<unknown>): Promise<void> => {
    await service.takeTurns();
    const from = {
      seconds: performance.now() / 1000,
      process: exactCpuSeconds(service.pid),
      database: databaseSeconds(opened),
    };
    await perform();
    add(work, from, (await service.takeTurns()).longestMs);
  };
  const get = async (path: string, expected = 200): Promise<string> => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${service.management}${path}`, { headers });
    const body = await response.text();
    if (response.status !== expected) throw new Error(`Cannot measure ${path}: ${response.status} ${body}`);
    return body;
  };
  try {
    await run('first 3 s, with the first sweep', () => new Promise((resolve) => setTimeout(resolve, 3_000)));
    await run('metrics', () => get('/metrics'));
    await run('health of the console', () => get('/operator/v1/health'));
    for (const round of ['', ', again']) await run(`list of all tenants${round}`, () => listAll(get));
    await run('a tenant that does not exist', () => get('/operator/v1/tenants/tenant-99999x', 404));
    // what a night leaves, and what is removed after 32 and 100 days
    for (const days of [1, 32, 100])
      await run(`sweep after ${days} days`, () => service.work({ kind: 'sweep all', days }));
    return measured;
  } finally {
    await service.stop();
  }
}

async function listAll(get: (path: string) => Promise<string>): Promise<void> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = JSON.parse(await get(`/operator/v1/tenants?limit=100${query}`)) as { readonly next: string | null };
    cursor = page.next;
  }
}

async function measureCommands(opened: BenchStore): Promise<readonly Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-bench-copies-'));
  const backup = join(folder, 'backup.db');
  const measured: Measured[] = [];
  const run = async (work: string, args: readonly string[], environment = opened.environment): Promise<void> => {
    const { output: _, ...used } = await runMeasured({ ...opened, environment }, args);
    measured.push({ work, ...used });
  };
  await run('tenant list', ['tenant', 'list', '--json']);
  await run('doctor', ['doctor', '--json']);
  await run('backup', ['backup', backup, '--json']);
  await run('restore', ['restore', backup, '--json'], await emptyStore(opened, folder));
  rmSync(folder, { recursive: true });
  return measured;
}

const counts = values.tenants.map(Number);
for (const engine of values.engine) {
  const runs: (readonly Measured[])[] = [];
  for (const tenants of counts) runs.push(await measure(engine, tenants));
  printSection(engine, toMarkdown(runs, engine));
}

/** One row for each work, with the figures of each number of tenants. */
function toMarkdown(runs: readonly (readonly Measured[])[], engine: string): string {
  const header = ['work', ...['CPU s', 's', 'MiB', 'turn ms'].flatMap((unit) => counts.map((n) => `${unit}, ${n}`))];
  const rows = (runs[0] ?? []).map(({ work }) => {
    const same = runs.map((run) => run.find((each) => each.work === work));
    const show = (value: (each: Measured) => number | undefined): string[] =>
      same.map((each) => (each === undefined ? undefined : value(each))?.toPrecision(3) ?? '-');
    return [
      work,
      ...show((each) => each.process + each.database),
      ...show(({ seconds }) => seconds),
      ...show(({ memoryMib }) => memoryMib),
      ...show(({ turnMs }) => turnMs),
    ];
  });
  const lines = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [`${new Date().toISOString().slice(0, 10)}; ${machineFacts(databaseFacts(engine))}.`, '', ...lines].join('\n');
}
