import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { writeRecordLine } from '../../contract/csv.ts';
import { writeSummaryLine } from '../../contract/report.ts';
import type { ImportFormat } from './read-valid-rows.ts';
import { requireWhole } from './require-whole.ts';

/** How often a source is read, and what is wrong with it. */
async function check(content: string | Buffer, format: ImportFormat = 'csv', chunkBytes = 64) {
  const bytes = Buffer.from(content as string);
  let reads = 0;
  async function* open() {
    reads += 1;
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const error = await requireWhole(open, { format, onRejected: () => undefined }).catch(
    (cause: Error) => cause.message,
  );
  return { reads, error };
}

const header = 'id,iccid,createdDate,activationDate,expirationDate,product.id,device_id,auto_renew';
const row = (name: string): string => writeRecordLine(['1', '8944500102198304826', 't', 't', 't', name, '', 'true']);
// more than the reader of the first rows buffers
const rows = (name: string, count = 3_000): string => `${header}\r\n${row(name).repeat(count)}`;

describe('a source that is read to its end before it is loaded', () => {
  test.each([
    ['without quotes', rows('p')],
    ['with commas within quotes', rows('a, "b"')],
    ['with line breaks within quotes', rows('a\r\nb')],
    ['that a quote begins', `"${header.replace(',', '",')}\n${row('p').repeat(9)}`],
    ['that a mark and a quote begin', `\ufeff"${header.replace(',', '",')}\n${row('p').repeat(9)}`],
    ['of old Macs', rows('a "b"').replaceAll('\r\n', '\r')],
    ['that ends with a quote', `${rows('p')}1,"2"`],
    ['of many rows', rows('a, b', 2_000)],
    ['with a row of 16 KiB', rows('x'.repeat(16_200), 3)],
  ])('CSV %s needs one look', async (_title, content) => {
    for (const chunkBytes of [11, 4_096]) expect(await check(content, 'csv', chunkBytes)).toEqual({ reads: 1 });
  });

  test.each([
    ['a quote that never ends', `${rows('p')}1,"2,3\r\n${row('p')}`, 'a quote is not closed'],
    ['a quote within a cell', `${rows('p')}1,2"3\r\n${row('p')}`, 'a quote begins within a cell'],
    ['text after a quote', `${rows('a, b')}1,"2"3\r\n${row('p')}`, 'text follows the quote'],
    ['a row that is too long', rows('p') + row('x'.repeat(17_000)) + row('p'), 'more than 16384 bytes'],
    ['a quoted row that is too long', rows('p') + row(`"${'x'.repeat(17_000)}`) + row('p'), 'more than 16384 bytes'],
  ])('CSV with %s is refused with the sentence of its reader', async (_title, content, cause) => {
    for (const chunkBytes of [11, 4_096])
      expect(await check(content, 'csv', chunkBytes)).toEqual({ reads: 2, error: expect.stringContaining(cause) });
  });

  test('gzip that was cut is refused', async () => {
    const bytes = gzipSync(rows('p', 5_000));
    expect(await check(bytes, 'csv', 512)).toEqual({ reads: 1 });
    expect((await check(bytes.subarray(0, -20), 'csv', 512)).error).toMatch(/must be complete/);
  });

  test('an exported report without its rest is refused, wherever its chunks end', async () => {
    const lines = '{"id":1}\n'.repeat(9_000);
    const summary = writeSummaryLine({ rows: 9_001, sha256: '0'.repeat(64) });
    for (const chunkBytes of [11, 4_096]) {
      expect(await check(lines, 'ndjson', chunkBytes)).toEqual({ reads: 1 });
      const { reads, error } = await check(lines + summary, 'ndjson', chunkBytes);
      expect([reads, error]).toEqual([2, expect.stringContaining('must be complete and unchanged')]);
    }
  });

  test.each([
    ['a header without a column', 'csv', 'id,iccid,email\r\n1,2,3\r\n', 'createdDate'],
    ['an array', 'ndjson', '[\n{"id":"0123456789"}\n', 'jq -c'],
    ['a page of an error', 'ndjson', '<!DOCTYPE html><html>', 'HTML'],
    ['a workbook', 'csv', 'PK\x03\x04 and the rest of it', 'a workbook'],
  ] as const)('%s is refused before its rest has arrived', async (_title, format, first, cause) => {
    async function* open() {
      yield Buffer.from(first);
      await sleep(60_000, undefined, { ref: false });
      throw new Error('the rest has arrived');
    }
    await expect(requireWhole(open, { format, onRejected: () => undefined })).rejects.toThrow(cause);
  });

  test('as many invalid first rows as are too many end the look, each reported once, and fewer do not', async () => {
    const reported: number[] = [];
    let [arrived, read] = [0, 0];
    async function* open() {
      for (; arrived < 100; arrived += 1) yield Buffer.from('{}\n');
    }
    const reading = {
      format: 'ndjson' as const,
      rejectedMax: 5,
      onRejected: ({ line }: { readonly line: number }) => void reported.push(line),
      onCounts: (counts: { readonly read: number }) => {
        read = counts.read;
      },
    };
    await expect(requireWhole(open, reading)).rejects.toThrow('past line 6: at most 5 rows');
    expect([reported, read, arrived < 9]).toEqual([[1, 2, 3, 4, 5, 6], 6, true]);
    await requireWhole(open, { ...reading, rejectedMax: 100 });
    expect([reported.length, arrived]).toEqual([6, 100]);
  });
});
