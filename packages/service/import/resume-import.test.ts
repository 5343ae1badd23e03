import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { SourceDigest } from './resume-import.ts';

const mib = 1_048_576;
const chunks = Array.from({ length: 640 }, (_, n) => Buffer.alloc(65_536 + (n % 7), n));
const source = Buffer.concat(chunks);
const hashOf = (bytes: number): string => createHash('sha256').update(source.subarray(0, bytes)).digest('hex');

/**
 * Reads the source with rows that end at the offsets `ends`, calling `look` for each once its chunk
 * was read. Returns the largest number of pending bytes.
 */
async function read(digest: SourceDigest, ends: readonly number[], look: (end: number) => void): Promise<number> {
  let [bytes, row, most] = [0, 0, 0];
  for await (const chunk of digest.follow(
    (async function* () {
      yield* chunks;
    })(),
  )) {
    bytes += chunk.length;
    most = Math.max(most, digest.pendingBytes);
    for (; (ends[row] ?? source.length + 1) <= bytes; row += 1) look(ends[row] ?? 0);
  }
  return most;
}

test('SourceDigest returns the hash of a source up to the end of any row and buffers little of it', async () => {
  const digest = new SourceDigest();
  const ends = Array.from({ length: 4_000 }, (_, n) => (n + 1) * 10_007);
  const most = await read(digest, ends, (end) => {
    if (end % 37 === 0) expect(digest.at(end)).toBe(hashOf(end));
    digest.markRowEnd(end);
  });
  expect(most).toBeLessThan(2 * mib);
});

test.each([
  ['a row of 30 MiB', [1_000, 31 * mib + 5, 35 * mib]],
  ['rows that do not end at all', [1_000]],
  ['no row', []],
])('SourceDigest buffers less than 18 MiB and returns every hash of a source with %s', async (_title, ends) => {
  const digest = new SourceDigest();
  const most = await read(digest, ends, (end) => {
    digest.markRowEnd(end);
    expect(digest.at(end)).toBe(hashOf(end));
  });
  expect(most).toBeLessThan(18 * mib);
  // up to the last row, however many bytes have followed it
  expect(digest.at(ends.at(-1) ?? 0)).toBe(hashOf(ends.at(-1) ?? 0));
  expect(digest.at(source.length)).toBe(hashOf(source.length));
});

test('SourceDigest returns no hash for offsets that were passed or not read yet', async () => {
  const digest = new SourceDigest();
  await read(digest, [9_000_000], (end) => expect(digest.at(end)).toBe(hashOf(end)));
  expect(digest.at(8_000_000)).toBeUndefined();
  expect(digest.at(source.length + 1)).toBeUndefined();
});
