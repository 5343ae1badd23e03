import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasTerminal } from '../support/terminal.ts';

let folder: string;

/** A tree with the script alone, and programs that only note their calls. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-ci-'));
  mkdirSync(join(folder, 'bin'));
  cpSync('.ci/run', join(folder, '.ci/run'));
  for (const name of 'bash awk basename cat cut dirname grep head mktemp nice rm script sed sh tail tee'.split(' '))
    symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), join(folder, 'bin', name));
  const note = `#!/bin/sh
echo "$(basename "$0") $*" >>'${folder}/calls'
echo 1
`;
  for (const name of ['apt-get', 'npm', 'git']) writeFileSync(join(folder, 'bin', name), note, { mode: 0o755 });
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(environment: Record<string, string>, isTerminal: boolean): { asked: boolean; installed: boolean } {
  const script = join(folder, '.ci/run');
  const [program, args] = isTerminal ? ['script', ['-qec', script, '/dev/null']] : ['bash', [script]];
  rmSync(join(folder, 'calls'), { force: true });
  const env = { PATH: join(folder, 'bin'), SHELL: '/bin/sh', ...environment };
  const { stdout } = spawnSync(join(folder, 'bin', program as string), args as string[], { env, input: 'n\n' });
  const calls = readFileSync(join(folder, 'calls'), 'utf8');
  return { asked: String(stdout).includes('Install on this machine'), installed: calls.includes('apt-get install') };
}

// without it, the script would configure PostgreSQL of this machine
const isHarmless = hasTerminal && existsSync('/usr/lib/postgresql/15/bin/initdb');

test.runIf(isHarmless)(
  '.ci/run asks a person before it installs packages, and nobody in CI or without a terminal',
  () => {
    expect(run({}, true)).toEqual({ asked: true, installed: false });
    expect(run({ CI: 'true' }, true)).toEqual({ asked: false, installed: true });
    expect(run({}, false)).toEqual({ asked: false, installed: true });
  },
);
