import { describe, expect, test } from 'vitest';
import { readBatches } from './read-batches.ts';
import { noRowsYet } from './read-valid-rows.ts';
import { syntheticRows } from './synthetic-rows.ts';

const [example] = syntheticRows({ count: 1, seed: 1, until: 1_767_225_600 });
const lineOf = (id: string, name = ''): string =>
  JSON.stringify({ ...example, id, product: { ...example?.product, name } });

/**
 * Reads lines of NDJSON in batches of two rows, or with `null` of as many as by default; returns
 * the ids of each batch.
 */
async function read(lines: Iterable<string>, rowsMax: number | null = 2): Promise<unknown[]> {
  const source = (async function* () {
    for (const line of lines) {
      if (line === '') throw new Error('the disk went away');
      yield Buffer.from(`${line}\n`);
    }
  })();
  const rejected: number[] = [];
  const reading = {
    format: 'ndjson' as const,
    tally: noRowsYet(),
    onRejected: ({ line }: { line: number }) => void rejected.push(line),
  };
  const found: unknown[] = [];
  try {
    for await (const rows of readBatches(source, reading, rowsMax ?? undefined)) found.push(rows.map(({ id }) => id));
  } catch (error) {
    found.push((error as Error).message);
  }
  return rejected.length > 0 ? [...found, { rejected }] : found;
}

const lines = ['a', 'b', 'c', 'd', 'e'].map((id) => lineOf(id));

describe('the batches of a source', () => {
  test('have at most rowsMax rows each', async () => {
    expect(await read(lines)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(await read(lines.slice(0, 2))).toEqual([['a', 'b']]);
    expect(await read([])).toEqual([[]]);
  });

  test('have 1,000 rows, then 3,000, and then 10,000 by default', async () => {
    const ids = Array.from({ length: 24_500 }, (_, n) => `id-${n}`);
    const batches = await read(
      ids.map((id) => lineOf(id)),
      null,
    );
    expect(batches.map((batch) => (batch as string[]).length)).toEqual([1_000, 3_000, 10_000, 10_000, 500]);
  });

  test('have fewer rows if these are long, so that they take no more memory', async () => {
    const long = '日'.repeat(256);
    const text = { id: 'p'.repeat(128), plan_id: 'q'.repeat(128), name: long };
    const ids = Array.from({ length: 14_000 }, (_, n) => `id-${n}`);
    const batches = await read(
      ids.map((id) => JSON.stringify({ ...example, id, product: { ...example?.product, ...text } })),
      null,
    );
    const counts = batches.map((batch) => (batch as string[]).length);
    expect(counts.slice(0, 2)).toEqual([1_000, 3_000]);
    expect(counts[2]).toBeLessThan(9_500);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(14_000);
  });

  test('are not finished after a failure, before which invalid rows are reported', async () => {
    expect(await read([...lines.slice(0, 3), '{}', ''])).toEqual([['a', 'b'], 'the disk went away', { rejected: [4] }]);
  });
});
