import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { corpus } from '../../test/corpus/files.ts';
import { ImportError } from '../service/import/error.ts';
import { readCsv } from '../service/import/read-csv.ts';
import { readCsvRows } from './csv-header.ts';

describe('the header of CSV', () => {
  test.each([
    ['id,iccid\n1,2', ['id', 'iccid']],
    ['\ufeffsep=;\r\n"a;b"; c ;"d""e"\r\n', ['a;b', 'c', 'd"e']],
    ['#TYPE X\n,,\n"a\nb",c', ['a\nb', 'c']],
    ['a\tb\rc\td', ['a', 'b']],
    ['', []],
    ['\n\n', []],
    ['"never ends', []],
  ])('of %j', (text, names) => {
    expect(readCsvRows(text, 1)).toEqual(names.length === 0 ? [] : [names]);
  });

  const files = corpus.filter(({ format, columns }) => format === 'csv' && columns === undefined);
  test.each(files.map((file) => [file.imitates, file] as const))(
    'has the columns that an import finds: %s',
    async (_title, { bytes }) => {
      const plain = bytes[0] === 0x1f ? gunzipSync(bytes) : bytes;
      const [names = []] = readCsvRows(plain.toString('utf8'), 1);
      if (!names.includes('iccid') || new Set(names).size < names.length) return;
      // a mapping to all columns is one that an import finds
      const columns = Object.fromEntries(names.flatMap((name) => (name === '' ? [] : [[name, name]])));
      const rows = readCsv(Readable.from([plain]), { mapping: { columns, constants: {} } });
      const first = await rows.next().catch((error: unknown) => error);
      if (first instanceof ImportError) expect(first.message).not.toContain('there is no column');
    },
  );
});
