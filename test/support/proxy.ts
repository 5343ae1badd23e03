import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, startMsMax } from './eventually.ts';

/** Whether a proxy is installed; says so if not, and fails in CI. */
export function isInstalled(program: string): boolean {
  if (['/usr/sbin', '/usr/bin', '/usr/local/bin'].some((folder) => existsSync(join(folder, program)))) return true;
  const message = `SKIPPED: the service was not tested behind ${program}: install it (apt-get install)`;
  if (process.env.CI !== undefined) throw new Error(message);
  console.error(message);
  return false;
}

/** A proxy: its command, whose `FOLDER` is replaced, the files of that folder, its environment. */
export interface ProxyProgram {
  readonly command: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts a proxy on a loopback port, and waits until the service behind it responds. */
export async function startProxy(port: string, { command, files, environment }: ProxyProgram) {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-proxy-'));
  const [program = '', ...args] = command.map((word) => word.replaceAll('FOLDER', folder));
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, name), text.replaceAll('FOLDER', folder));
  const env = { PATH: `/usr/sbin:${process.env.PATH}`, HOME: folder, ...environment };
  const child = spawn(program, args, { env, stdio: 'ignore' });
  const exited = once(child, 'exit');
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    const { status } = await fetch(`http://127.0.0.1:${port}/healthz`);
    if (status !== 200) throw new Error(`${program} responded with ${status}`);
  }, startMsMax);
  return {
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
