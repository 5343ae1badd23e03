import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { endAtExit } from '../../tools/end-at-exit.ts';
import { freePort } from '../../tools/free-port.ts';
import { exactCpuSeconds } from './exact-cpu.ts';

/** A server in a separate process. */
export interface ServerProcess {
  readonly port: number;
  readonly pid: number;
  /** CPU time of the process in seconds; `undefined` where it is not available (it is on Linux). */
  cpuSeconds(): number | undefined;
  /** Resident memory of the process in bytes; `undefined` where it is not available. */
  rssBytes(): number | undefined;
  /** Open files and connections of the process; `undefined` where they are not available. */
  handles(): number | undefined;
  stop(): Promise<void>;
}

/**
 * Starts a program of this repository, or of another checkout by its absolute path, with `PORT` and
 * other settings, and waits until it responds. Its log goes to the open file `log`, if there is
 * one.
 */
export async function startServer(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  log: number | 'ignore' = 'ignore',
): Promise<ServerProcess> {
  const port = await freePort();
  const file = resolve(fileURLToPath(new URL('../..', import.meta.url)), program);
  const { PATH = '', NODE_OPTIONS = '' } = process.env; // NODE_OPTIONS may ask for a profile
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH, NODE_OPTIONS, PORT: String(port), ...environment },
    stdio: ['ignore', log, 'inherit'],
  });
  const ended = once(child, 'exit');
  endAtExit(child);
  for (const deadline = Date.now() + 240_000; ; await sleep(50)) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`Cannot start ${program}`);
    const answered = await fetch(`http://127.0.0.1:${port}/healthz`).then(
      (response) => response.arrayBuffer(),
      () => undefined,
    );
    if (answered !== undefined) break;
  }
  return {
    port,
    pid: child.pid ?? 0,
    cpuSeconds: () => (existsSync('/proc/self/schedstat') ? exactCpuSeconds(child.pid ?? 0) : undefined),
    rssBytes: () => readRssBytes(child.pid),
    handles: () => (existsSync(`/proc/${child.pid}/fd`) ? readdirSync(`/proc/${child.pid}/fd`).length : undefined),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** `VmRSS` of `/proc/PID/status`, in KiB. */
function readRssBytes(pid: number | undefined): number | undefined {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8'))?.[1]) * 1024;
}
