import { expect, test } from 'vitest';
import { describeFile } from './describe-file.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const gzip = new Uint8Array([0x1f, 0x8b, 8]);
const zstd = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd]);

test.each([
  { name: 'rows.csv', start: bytes('{'), format: 'csv', encoding: undefined },
  { name: 'ROWS.NDJSON', start: bytes('id'), format: 'ndjson', encoding: undefined },
  { name: 'rows.jsonl.gz', start: gzip, format: 'ndjson', encoding: 'gzip' },
  { name: 'rows.csv.zst', start: zstd, format: 'csv', encoding: 'zstd' },
  { name: 'rows.csv.gz', start: bytes('id,status'), format: 'csv', encoding: undefined },
  { name: 'rows', start: bytes(' {"id":1}'), format: 'ndjson', encoding: undefined },
  { name: 'rows.txt', start: bytes('id,status'), format: 'csv', encoding: undefined },
])('$name is $format with encoding $encoding', ({ name, start, format, encoding }) => {
  expect(describeFile(name, start)).toEqual({ format, encoding });
});

test('a compressed file needs a name that says what it contains', () => {
  expect(describeFile('rows.gz', gzip)).toBeUndefined();
});
