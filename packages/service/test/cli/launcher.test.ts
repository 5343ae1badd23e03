import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/support/eventually.ts';
import { runCommand } from '../../../../test/support/run-command.ts';

const launcher = fileURLToPath(new URL('../../cli/subreport.mjs', import.meta.url));
let folder: string;
let environment: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-launcher-'));
  environment = { PATH: process.env.PATH ?? '', DATA_DIR: join(folder, 'data') };
  await runCommand(['tenant', 'create', 'acme'], { environment });
});
afterAll(() => rmSync(folder, { recursive: true }));

const childrenOf = ({ pid }: ChildProcess): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** For `--import`: Node.js looks like an old version on a platform without a pinned one. */
const oldNode = `data:text/javascript,${encodeURIComponent(`
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.8.0' } });
  Object.defineProperty(process, 'arch', { value: 'riscv64' });
`)}`;

test.each([
  ['subreport', launcher, 'Cannot start subreport'],
  ['npm test', fileURLToPath(new URL('../../../../tools/check-node.mjs', import.meta.url)), 'Cannot run the tests'],
])('%s says what to install if Node.js is too old and none is pinned for the platform', (_, script, action) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', oldNode, script], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    new RegExp(`^${action}: [^\\n]+: current value is 20\\.8\\.0; install Node\\.js 26 or newer [^\\n]+\\n$`),
  );
});

test.runIf(process.platform === 'linux')(
  'kill -9 of the launcher stops the import that it started, and releases its lock',
  async () => {
    const args = [launcher, 'import', '-', '--tenant', 'acme', '--format', 'ndjson', '--json'];
    execFileSync('mkfifo', [join(folder, 'rows')]);
    const source = openSync(join(folder, 'rows'), 'r+'); // it stays open when the launcher exits
    const started = spawn(process.execPath, args, { env: environment, stdio: [source, 'ignore', 'ignore'] });
    const importOther = () =>
      runCommand(['import', '-', '--tenant', 'acme', '--format', 'ndjson'], { environment, input: '\n' });
    // another import before this one has the lock would take it, and end this one
    await eventually(() => expect(readdirSync(join(folder, 'data')).join()).toContain('-import-'));
    expect((await importOther()).stderr).toContain('another one is running');
    const [running = 0] = childrenOf(started);
    expect(isAlive(running)).toBe(true);
    started.kill('SIGKILL');
    await once(started, 'exit');
    try {
      await eventually(() => expect(isAlive(running)).toBe(false));
    } finally {
      if (isAlive(running)) process.kill(running, 'SIGKILL');
      closeSync(source);
    }
    expect((await importOther()).stderr).not.toContain('another one is running');
  },
);
