import { expect, test } from 'vitest';
import { mutated, mutations, randomOf } from '../../../test/corpus/mutate.ts';
import { csvText } from '../../../test/support/csv-text.ts';
import { ImportError } from './error.ts';
import { type ImportFormat, noRowsYet, readValidRows } from './read-valid-rows.ts';
import { requireWhole } from './require-whole.ts';
import { type SyntheticRow, syntheticRows } from './synthetic-rows.ts';

const rows = [...syntheticRows({ count: 12, seed: 5, until: 1_767_225_600 })].map((row, n) =>
  n % 3 === 0 ? { ...row, product: { ...row.product, name: 'Zürich "5 GB"' } } : row,
) as SyntheticRow[];
const files: Readonly<Record<ImportFormat, Buffer>> = {
  csv: Buffer.from(csvText(rows)),
  ndjson: Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join('')),
};

/** Reads a file as an import does: its records, and how many rows and lines it has counted. */
async function read(bytes: Buffer, format: ImportFormat) {
  const tally = noRowsYet();
  const records: Record<string, unknown>[] = [];
  const source = (async function* () {
    yield bytes;
  })();
  try {
    for await (const row of readValidRows(source, { format, tally, onRejected: () => undefined }))
      records.push({ ...JSON.parse(row.record), email: row.email });
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    return { records, tally, refused: error.message };
  }
  return { records, tally, refused: undefined };
}

async function* inChunks(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The strings and numbers of a value. */
const leavesOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null
    ? Object.values(value).flatMap(leavesOf)
    : value === null
      ? []
      : [String(value)];

/** The text of a file as UTF-8, with the escaped quotes of CSV and JSON unescaped. */
const textsOf = (bytes: Buffer): string => bytes.toString('utf8').replaceAll('""', '"').replaceAll('\\"', '"');

/** The ids of the rows whose lines a file still has. */
function intactIn(bytes: Buffer, format: ImportFormat): string[] {
  const lines = new Set(bytes.toString('utf8').split(/\r?\n|\r/));
  const [original, header] = [files[format].toString('utf8').split('\n'), format === 'csv' ? 1 : 0];
  if (header === 1 && !lines.has(original[0] ?? '')) return [];
  return rows.flatMap(({ id }, at) => (lines.has(original[at + header] ?? '') ? [id] : []));
}

/** What an import must never do with a file, however it was mutated. */
async function check(seed: number): Promise<void> {
  const random = randomOf(seed);
  const format: ImportFormat = random(2) === 0 ? 'csv' : 'ndjson';
  const bytes = mutated(files[format], random);
  const { records, tally, refused } = await read(bytes, format);
  // a file is refused before its first row is loaded if, and only if, it cannot be read to its end
  const open = () => inChunks(bytes, 1 + random(200));
  const whole = await requireWhole(open, { format, onRejected: () => undefined }).catch(String);
  if (refused === undefined) expect([seed, whole]).toEqual([seed, undefined]);
  else if (records.length > 0) expect([seed, whole]).toEqual([seed, `ImportError: ${refused}`]);
  const text = textsOf(bytes);
  const lower = text.toLowerCase();
  for (const leaf of records.flatMap(leavesOf))
    if (!text.includes(leaf) && !lower.includes(leaf.toLowerCase()))
      throw new Error(`seed ${seed}: '${leaf}' is not in the file`);
  // every row is a record or rejected
  expect([seed, records.length]).toEqual([seed, tally.read - tally.rejected]);
  // a stray quote may make one row of several lines
  const ids = new Set(records.map(({ id }) => id));
  const lost = intactIn(bytes, format).filter((id) => !ids.has(id));
  if (refused === undefined) {
    if (lost.length > 0 && tally.rejected === 0) throw new Error(`seed ${seed}: the rows ${lost} are lost`);
    return;
  }
  expect([seed, refused.length <= 200 || refused]).toEqual([seed, true]);
  expect([seed, refused]).toEqual([seed, expect.stringMatching(/^Cannot /)]);
}

/** How many seeds are drawn; `SEEDS=5000` with `--test-timeout=0` tries that many, from 0 on. */
const seeds = Number(process.env.SEEDS ?? 50);
const first = process.env.SEEDS === undefined ? Number(process.env.DRAW ?? Date.now()) % 1_000_000_000 : 0;

test(`a file with mutations has no record with a value that is not in it, and no row is lost (seeds from ${first})`, async () => {
  for (let seed = first; seed < first + seeds; seed += 1) await check(seed);
});

test('each mutation changes a file', () => {
  for (const [name, mutate] of Object.entries(mutations)) {
    const changed = [1, 2, 3].some((seed) => !mutate(files.csv, randomOf(seed)).equals(files.csv));
    expect([name, changed]).toEqual([name, true]);
  }
});
