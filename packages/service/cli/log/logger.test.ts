import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../../../test/support/eventually.ts';
import { waitMsMax } from '../../../../test/support/wait-limit.ts';
import { droppedLogLines, openLogDestination } from './logger.ts';

const describeDropped = (count: number): string => `dropped ${count}\n`;
const lineOf = (n: number): string => `${String(n).padStart(99)}\n`;

describe.skipIf(process.platform === 'win32')('a log that nobody reads', () => {
  let folder: string;
  let fifo: number;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'subreport-log-'));
    execFileSync('mkfifo', [join(folder, 'log')]);
    fifo = openSync(join(folder, 'log'), constants.O_RDWR | constants.O_NONBLOCK);
  });
  afterAll(() => {
    closeSync(fifo);
    rmSync(folder, { recursive: true });
  });

  const readAvailable = (): string => {
    const bytes = Buffer.alloc(1_048_576);
    try {
      return bytes.toString('utf8', 0, readSync(fifo, bytes));
    } catch {
      return ''; // the pipe is empty
    }
  };

  test('keeps lines up to the bound, drops and counts the others, and reports the count once it is read', async () => {
    const log = openLogDestination(fifo, describeDropped, 50_000);
    const droppedBefore = droppedLogLines();
    for (let n = 0; n < 5_000; n += 1) log.write(lineOf(n));
    let read = '';
    await eventually(() => {
      read += readAvailable();
      expect(read).toContain('dropped ');
    });
    const lines = read.split('\n').slice(0, -1);
    const kept = lines.slice(0, -1);
    expect(kept).toEqual(kept.map((_, n) => lineOf(n).slice(0, -1))); // complete and in order
    expect(lines.at(-1)).toBe(`dropped ${5_000 - kept.length}`);
    expect(kept.length).toBeGreaterThanOrEqual(50_000 / 100);
    expect(droppedLogLines() - droppedBefore).toBe(5_000 - kept.length);
    log.write('afterwards\n');
    expect(readAvailable()).toBe('afterwards\n');
  });

  test('counts the lines that a closed pipe drops, and writes the others to its next reader', async () => {
    execFileSync('mkfifo', [join(folder, 'closed')]);
    const openReader = () => openSync(join(folder, 'closed'), constants.O_RDONLY | constants.O_NONBLOCK);
    const first = openReader();
    const writer = openSync(join(folder, 'closed'), constants.O_WRONLY | constants.O_NONBLOCK);
    closeSync(first);
    const log = openLogDestination(writer, describeDropped, 500);
    const droppedBefore = droppedLogLines();
    for (let n = 0; n < 20; n += 1) log.write(lineOf(n));
    expect(droppedLogLines() - droppedBefore).toBe(15);
    const second = openReader();
    log.end();
    const bytes = Buffer.alloc(2_000);
    const lines = bytes.toString('utf8', 0, readSync(second, bytes)).split('\n');
    expect(lines).toEqual([...[0, 1, 2, 3, 4].map((n) => lineOf(n).slice(0, -1)), 'dropped 15', '']);
    closeSync(second);
    closeSync(writer);
  });

  test.each(['', 'log.end();'])('lets the process exit after its lines, with the call %j', (end) => {
    const { status, stderr } = writeInProcess(fifo, 5_000, end);
    expect(status).toBe(0);
    expect(Number(stderr)).toBeGreaterThan(1_000);
    expect(readAvailable()).not.toContain('dropped');
  });
});

test.runIf(process.platform === 'linux')('a log on a full disk is dropped, and lets the process exit', () => {
  const full = openSync('/dev/full', 'w');
  // five lines of 100 bytes wait, the others are dropped
  expect(writeInProcess(full, 20, 'log.end();')).toMatchObject({ status: 0, stderr: '15' });
  closeSync(full);
});

/** Writes lines in a process of its own, which prints how many it dropped. */
function writeInProcess(fd: number, lines: number, end: string) {
  const module = JSON.stringify(new URL('logger.ts', import.meta.url).href);
  const code = `import { droppedLogLines, openLogDestination } from ${module};
    const log = openLogDestination(3, (count) => 'dropped ' + count, 500);
    for (let n = 0; n < ${lines}; n += 1) log.write(' '.repeat(99) + '\\n');
    ${end}
    process.stderr.write(String(droppedLogLines()));`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'ignore', 'pipe', fd],
    encoding: 'utf8',
    timeout: waitMsMax,
  });
}
