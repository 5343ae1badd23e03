import { describe, expect, test } from 'vitest';
import { readWindows } from './read-windows.ts';
import { createResumption } from './resume-import.ts';
import { SourceDigest } from './source-digest.ts';

/** Reads lines of NDJSON in batches of two rows; returns the rows and the end of each window. */
async function read(lines: readonly string[], { rowsMax = 2, isCompared = true } = {}): Promise<unknown[]> {
  const source = (async function* () {
    yield Buffer.from(lines.map((line) => `${line}\n`).join(''));
    if (lines.at(-1) === 'break') throw new Error('the disk went away');
  })();
  const windows = readWindows(source, {
    format: 'ndjson',
    tally: { read: 0, rejected: 0 },
    resumption: createResumption(undefined, 'ndjson', new SourceDigest()),
    onRow: () => undefined,
    rowsMax,
    isCompared: () => isCompared,
  });
  const found: unknown[] = [];
  try {
    for await (const { rows, batchEnd } of windows) found.push([rows.map(({ line }) => line), batchEnd]);
  } catch (error) {
    found.push((error as Error).message);
  }
  return found;
}

describe('the windows of a source', () => {
  test('end with their batches, and the last one with the source', async () => {
    expect(await read(['1', '2', '3', '4', '5'])).toEqual([
      [[1, 2], { read: 2, bytes: 4 }],
      [[3, 4], { read: 4, bytes: 8 }],
      [[5], 'finished'],
    ]);
    expect(await read(['1', '2'])).toEqual([[[1, 2], 'finished']]);
    expect(await read([])).toEqual([[[], 'finished']]);
  });

  test('end after 64 rows if they are not compared', async () => {
    const lines = Array.from({ length: 70 }, (_, index) => String(index));
    const numbers = lines.map((_, index) => index + 1);
    expect(await read(lines, { rowsMax: 100, isCompared: false })).toEqual([
      [numbers.slice(0, 64), undefined],
      [numbers.slice(64), 'finished'],
    ]);
    expect(await read(lines, { rowsMax: 100 })).toEqual([[numbers, 'finished']]);
  });

  test('end with a batch after 2 MiB of the source, however few rows it has', async () => {
    const large = 'x'.repeat(3 * 1_048_576);
    expect(await read([large, '2', '3', '4'])).toEqual([
      [[1], { read: 1, bytes: large.length + 1 }],
      [[2], { read: 2, bytes: large.length + 3 }],
      [[3, 4], 'finished'],
    ]);
  });

  test('contain the rows before a failure', async () => {
    expect(await read(['1', '2', 'break'])).toEqual([
      [[1, 2], { read: 2, bytes: 4 }],
      [[3], undefined],
      'the disk went away',
    ]);
  });
});
