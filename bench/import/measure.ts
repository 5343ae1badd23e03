import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite, superuserUrl } from '../support/bench-store.ts';
import { treeCpuSeconds } from '../support/process-tree.ts';
import { loadBarePostgres, loadBareSqlite } from './bare-load.ts';

/** What a side costs: CPU time of all processes, elapsed time, and memory of its own process. */
export interface Cost {
  readonly cpuSeconds: number;
  readonly seconds: number;
  readonly grownMb: number;
}

/** Loads a file without any of our code; only the load itself counts. */
export async function measureBare(engine: string, file: string): Promise<Cost> {
  const opened = await openEmpty(engine);
  try {
    if (engine === 'sqlite') return { ...(await loadBareSqlite(file, opened.folder)), grownMb: 0 };
    return { ...(await loadBarePostgres(file, superuserUrl(opened), opened.serverPid ?? 0)), grownMb: 0 };
  } finally {
    await opened.close();
  }
}

/** Imports two files one after the other, and only checks the second one in between. */
export async function measureImports(
  engine: string,
  { first, changed }: { readonly first: string; readonly changed: string },
): Promise<{ readonly first: Cost; readonly check: Cost; readonly change: Cost }> {
  const opened = await openEmpty(engine);
  try {
    const loaded = await measureImport(opened, first, 'import');
    await settle(opened);
    const check = await measureImport(opened, changed, 'check');
    return { first: loaded, check, change: await measureImport(opened, changed, 'import') };
  } finally {
    await opened.close();
  }
}

async function openEmpty(engine: string): Promise<BenchStore> {
  const opened = engine === 'sqlite' ? await openBenchSqlite() : await openBenchPostgres();
  await insertTenant(opened.store, 'bench', 1);
  if (engine !== 'sqlite') return opened;
  await opened.store.close();
  return { ...opened, close: async () => rmSync(opened.folder, { recursive: true }) };
}

/** Cleans up after the load and collects statistics, as autovacuum does at some point. */
async function settle(opened: BenchStore): Promise<void> {
  if (opened.serverPid !== undefined) await opened.administer('vacuum analyze subscription');
}

/** Imports a file in a process of its own, with the settings of a store. */
async function measureImport(opened: BenchStore, file: string, how: 'import' | 'check'): Promise<Cost> {
  const program = new URL('run-import.ts', import.meta.url).pathname;
  const serverSeconds = (): number => (opened.serverPid === undefined ? 0 : treeCpuSeconds(opened.serverPid));
  const before = serverSeconds();
  const output = execFileSync(process.execPath, ['--max-semi-space-size=4', program, file, how], {
    env: { ...process.env, ...opened.environment },
    encoding: 'utf8',
  });
  if (opened.serverPid !== undefined && how !== 'check') await opened.administer('checkpoint');
  const { seconds, cpuSeconds, grownMb } = JSON.parse(output);
  return { seconds, cpuSeconds: cpuSeconds + serverSeconds() - before, grownMb };
}
