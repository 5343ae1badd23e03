import { describe, expect, test } from 'vitest';
import { writeRecordLine } from '../../contract/csv.ts';
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
const rows = (name: string, count = 500): string => `${header}\r\n${row(name).repeat(count)}`;

describe('a source that is read to its end before it is loaded', () => {
  test.each([
    ['without quotes', rows('p')],
    ['with commas within quotes', rows('a, "b"')],
    ['that a quote begins', `"${header.replace(',', '",')}\n${row('p').repeat(9)}`],
    ['that a mark and a quote begin', `\ufeff"${header.replace(',', '",')}\n${row('p').repeat(9)}`],
    ['that ends with a quote', `${rows('p')}1,"2"`],
    ['of many rows', rows('a, b', 2_000)],
    ['with a row of 16 KiB', rows('x'.repeat(16_200), 3)],
  ])('CSV %s needs one look', async (_title, content) => {
    for (const chunkBytes of [11, 4_096]) expect(await check(content, 'csv', chunkBytes)).toEqual({ reads: 1 });
  });

  test.each([
    ['with line breaks within quotes', rows('a\r\nb')],
    ['of old Macs', rows('a "b"').replaceAll('\r\n', '\r')],
    ['with a blank line', `${rows('p')}\r\n${row('p')}`],
  ])('CSV %s needs its rows parsed', async (_title, content) => {
    for (const chunkBytes of [11, 4_096]) expect(await check(content, 'csv', chunkBytes)).toEqual({ reads: 2 });
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
});
