import { describe, expect, test } from 'vitest';
import { readBatches } from './read-batches.ts';
import { noRowsYet } from './read-valid-rows.ts';
import { createResumption, SourceDigest } from './resume-import.ts';
import { syntheticRows } from './synthetic-rows.ts';

const [example] = syntheticRows({ count: 1, seed: 1, until: 1_767_225_600 });
const lineOf = (id: string, name = ''): string =>
  JSON.stringify({ ...example, id, product: { ...example?.product, name } });

/**
 * Reads lines of NDJSON in batches of two rows, or with `null` of as many as by default; returns
 * the ids and the end of each batch.
 */
async function read(lines: readonly string[], rowsMax: number | null = 2): Promise<unknown[]> {
  const source = (async function* () {
    yield Buffer.from(lines.map((line) => `${line}\n`).join(''));
    if (lines.at(-1) === '') throw new Error('the disk went away');
  })();
  const rejected: number[] = [];
  const onRejected = ({ line }: { line: number }): unknown => rejected.push(line);
  const batches = readBatches(
    source,
    {
      format: 'ndjson',
      tally: noRowsYet(),
      onRejected: (row) => void onRejected(row),
    },
    {
      resumption: createResumption(undefined, 'ndjson', new SourceDigest()),
      onRow: () => undefined,
      rowsMax: rowsMax ?? undefined,
    },
  );
  const found: unknown[] = [];
  try {
    for await (const { rows, end } of batches) found.push([rows.map(({ id }) => id), end]);
  } catch (error) {
    found.push((error as Error).message);
  }
  return rejected.length > 0 ? [...found, { rejected }] : found;
}

const lines = ['a', 'b', 'c', 'd', 'e'].map((id) => lineOf(id));
const bytes = Buffer.byteLength(`${lines[0]}\n`);

describe('the batches of a source', () => {
  test('have at most rowsMax rows each, and the last one ends with the source', async () => {
    expect(await read(lines)).toEqual([
      [['a', 'b'], { read: 2, bytes: 2 * bytes }],
      [['c', 'd'], { read: 4, bytes: 4 * bytes }],
      [['e'], 'finished'],
    ]);
    expect(await read(lines.slice(0, 2))).toEqual([[['a', 'b'], 'finished']]);
    expect(await read([])).toEqual([[[], 'finished']]);
  });

  test('have 1,000 rows, then 3,000, and then 10,000 by default', async () => {
    const ids = Array.from({ length: 24_500 }, (_, n) => `id-${n}`);
    const ends = (
      await read(
        ids.map((id) => lineOf(id)),
        null,
      )
    ).map((batch) => (batch as [unknown, unknown])[1]);
    expect(ends).toMatchObject([{ read: 1_000 }, { read: 4_000 }, { read: 14_000 }, { read: 24_000 }, 'finished']);
  });

  test('count rejected rows too, and keep the last row of each id', async () => {
    expect(await read([lineOf('a', 'x'), lineOf('a', 'y'), '{}', ...lines.slice(3)])).toEqual([
      [['a'], { read: 2, bytes: 2 * bytes + 2 }],
      [['d'], { read: 4, bytes: 3 * bytes + 5 }],
      [['e'], 'finished'],
      { rejected: [3] },
    ]);
  });

  test('end after 7 MiB of the source, however few rows they have', async () => {
    const large = 'x'.repeat(8 * 1_048_576);
    expect(await read([large, ...lines.slice(0, 3)])).toEqual([
      [[], { read: 1, bytes: large.length + 1 }],
      [['a'], { read: 2, bytes: large.length + 1 + bytes }],
      [['b', 'c'], 'finished'],
      { rejected: [1] },
    ]);
  });

  test('are not finished after a failure, before which invalid rows are reported', async () => {
    expect(await read([...lines.slice(0, 2), '{}', ''])).toEqual([
      [['a', 'b'], { read: 2, bytes: 2 * bytes }],
      'the disk went away',
      { rejected: [3] },
    ]);
  });
});
