import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { type BenchStore, databaseSeconds } from './bench-store.ts';

const main = fileURLToPath(new URL('../../packages/service/cli/main.ts', import.meta.url));
const meter = fileURLToPath(new URL('./usage-meter.ts', import.meta.url));

/** What some work has used. */
export interface Used {
  readonly seconds: number;
  /** CPU seconds of the process, and of PostgreSQL. */
  readonly process: number;
  readonly database: number;
  /** Most resident memory of the process in MiB. */
  readonly memoryMib: number;
}

/**
 * Runs a command of subreport in a process of its own, with an input if there is one; returns its
 * output too.
 */
export async function runMeasured(
  opened: Pick<BenchStore, 'environment' | 'serverPid' | 'workerPids'>,
  args: readonly string[],
  input?: Readable,
): Promise<Used & { readonly output: string }> {
  const usage = join(tmpdir(), `subreport-usage-${process.pid}`);
  rmSync(usage, { force: true });
  const [began, before] = [performance.now(), databaseSeconds(opened)];
  // the flags of `subreport`
  const child = spawn(process.execPath, ['--max-semi-space-size=4', '--import', meter, main, ...args], {
    env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'error', ...opened.environment, USAGE_FILE: usage },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = Promise.all([text(child.stdout), once(child, 'close')]);
  if (input === undefined) child.stdin.end();
  else await pipeline(input, child.stdin);
  const [output, [status]] = await ended;
  if (status !== 0) throw new Error(`Cannot measure ${args[0]}: it exited with ${status}: ${output.slice(0, 500)}`);
  const [line = '{}'] = readFileSync(usage, 'utf8').split('\n');
  const used = JSON.parse(line) as { readonly cpuSeconds: number; readonly memoryMib: number };
  rmSync(usage);
  return {
    output,
    seconds: (performance.now() - began) / 1000,
    process: used.cpuSeconds,
    database: databaseSeconds(opened) - before,
    memoryMib: used.memoryMib,
  };
}
