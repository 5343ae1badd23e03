import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/support/eventually.ts';
import { mainProgram } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-strict-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The open files of a process, as Linux lists them. */
const openFiles = (pid = 0): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)];
    } catch {
      return []; // closed meanwhile
    }
  });

test.runIf(process.platform === 'linux')(
  'an import from standard input that is killed leaves no record on disk',
  async () => {
    const [data, temporary] = [join(folder, 'data'), join(folder, 'tmp')];
    mkdirSync(temporary);
    expect((await runHere(['tenant', 'create', 'acme'], { DATA_DIR: data })).code).toBe(0);
    const child = spawn(process.execPath, [mainProgram, 'import', '-', '--format', 'ndjson', '--tenant', 'acme'], {
      env: { PATH: process.env.PATH ?? '', DATA_DIR: data, TMPDIR: temporary },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.stdin.write(`${JSON.stringify({ email: 'ada@example.com' })}\n`.repeat(1_000));
    const isKept = () => openFiles(child.pid).some((file) => /spool.*deleted/.test(file));
    await eventually(() => expect(isKept()).toBe(true));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(readdirSync(join(data, 'spool'))).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  },
);
