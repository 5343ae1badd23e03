import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { droppedLogLines, LogDestination } from './log-destination.ts';

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
    const log = new LogDestination(fifo, { waitingBytesMax: 50_000, describeDropped });
    const droppedBefore = droppedLogLines();
    for (let n = 0; n < 5_000; n += 1) log.write(lineOf(n));
    let read = '';
    await vi.waitFor(
      () => {
        read += readAvailable();
        expect(read).toContain('dropped ');
      },
      { timeout: 20_000, interval: 20 },
    );
    const lines = read.split('\n').slice(0, -1);
    const kept = lines.slice(0, -1);
    expect(kept).toEqual(kept.map((_, n) => lineOf(n).slice(0, -1))); // complete and in order
    expect(lines.at(-1)).toBe(`dropped ${5_000 - kept.length}`);
    expect(kept.length).toBeGreaterThanOrEqual(50_000 / 100);
    expect(droppedLogLines() - droppedBefore).toBe(5_000 - kept.length);
    log.write('afterwards\n');
    expect(readAvailable()).toBe('afterwards\n');
  });

  test('lets the process exit', () => {
    const log = new LogDestination(fifo, { waitingBytesMax: 50_000, describeDropped });
    for (let n = 0; n < 5_000; n += 1) log.write(lineOf(n));
    log.end();
    expect(readAvailable()).not.toContain('dropped');
  });
});

test.runIf(process.platform === 'linux')('a log on a full disk is dropped, and lets the process exit', () => {
  const full = openSync('/dev/full', 'w');
  const log = new LogDestination(full, { waitingBytesMax: 500, describeDropped });
  for (let n = 0; n < 20; n += 1) log.write(lineOf(n));
  log.end();
  closeSync(full);
});
