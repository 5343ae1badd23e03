import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandEnvironment, mainProgram } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';

let folder: string;
let environment: Record<string, string>;
let rows: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-output-'));
  environment = { ...commandEnvironment, DATA_DIR: join(folder, 'data') };
  rows = join(folder, 'bad.ndjson');
  writeFileSync(rows, '{"id":"x"}\n');
  await runHere(['tenant', 'create', 'acme'], environment);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a command whose standard output is a full disk, or a closed pipe. */
async function runInto(sink: 'full disk' | 'closed pipe', args: readonly string[]) {
  const full = sink === 'full disk' ? openSync('/dev/full', 'w') : undefined;
  const child = spawn(process.execPath, [mainProgram, ...args], {
    env: environment,
    stdio: ['ignore', full ?? 'pipe', 'pipe'],
  });
  child.stdout?.destroy();
  if (full !== undefined) closeSync(full);
  const [stderr, [code]] = await Promise.all([child.stderr === null ? '' : text(child.stderr), once(child, 'exit')]);
  return { code, stderr };
}

const importing = (): string[] => ['import', rows, '--tenant', 'acme', '--json'];
const generating = ['generate', '--subscriptions', '20000', '--output', '-'];

describe.runIf(process.platform === 'linux')('a result written to a full disk (T3)', () => {
  test.each([
    ['tenant create', () => ['tenant', 'create', 'unseen']],
    ['client create, whose secret is lost', () => ['client', 'create', '--tenant', 'acme']],
    ['config', () => ['config']],
    ['import with a rejected row', importing],
    ['generate', () => generating],
  ])('causes a message and exit code 1 for %s', async (_command, args) => {
    expect(await runInto('full disk', args())).toEqual({
      code: 1,
      stderr: 'Cannot write the result: standard output must take all of it (ENOSPC)\n',
    });
  });
});

test.skipIf(process.platform === 'win32')(
  'a result that a file can hold only in part causes a message and exit code 1 (T3)',
  async () => {
    const command = `ulimit -f 4; exec "${process.execPath}" "${mainProgram}" config --json > "${join(folder, 'cut')}"`;
    const child = spawn('bash', ['-c', command], { env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^Cannot write the result: .* \(EFBIG\)\n$/)]);
  },
);

describe('a closed pipe (T3)', () => {
  test.each([
    ['0 of config', 0, () => ['config']],
    ['0 of generate, which stops', 0, () => generating],
    ['1 of an import with a rejected row', 1, importing],
  ])('does not change the exit code %s', async (_command, code, args) => {
    expect(await runInto('closed pipe', args())).toEqual({ code, stderr: '' });
  });
});
