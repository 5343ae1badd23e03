import fc from 'fast-check';
import { expect, test } from 'vitest';
import { guardText, recordColumns, writeCsvLine, writeRecordLine } from '../../contract/csv.ts';
import { recordFields } from '../../contract/record-fields.ts';
import { cellsOf, csvHeader, ExportOfFile, fileOfExport } from './csv-file.ts';

const cell = fc.option(
  fc.oneof(
    fc.string({ maxLength: 6 }).map((text) => text.replace(/\p{Cc}/gu, '')),
    fc.constantFrom('', '-abc', '=1+1', "'", "'-", "''=", '＝1', '+4,"5"', '@;', '\u2028-', '\ufeff'),
  ),
  { nil: undefined },
);
// a record always has its id
const id = cell.filter((text) => text !== undefined && text !== '');
const record = fc.tuple(id, ...recordFields.slice(1).map(() => cell));
const records = fc.array(record, { maxLength: 6 });

const guarded = (cells: readonly (string | undefined)[]) => cells.map((text) => text && guardText(text));

/** The same bytes in pieces that split lines and characters. */
async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const joined = async (chunks: AsyncIterable<Uint8Array>): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(chunks));

test('a file of CSV has the values of the report, and gives its export again byte by byte', async () => {
  const given = fc.tuple(records, fc.integer({ min: 1, max: 40 }), fc.constantFrom('raw', 'spreadsheet'));
  await fc.assert(
    fc.asyncProperty(given, async ([rows, size, values]) => {
      const bytes = Buffer.from(
        writeCsvLine(recordColumns) + rows.map((cells) => writeRecordLine(guarded(cells))).join(''),
      );
      const file = await joined(fileOfExport(piecesOf(bytes, size), values));
      const [header, ...lines] = file.toString().split('\r\n').slice(0, -1);
      expect(header).toBe(csvHeader);
      expect(lines.map(cellsOf)).toEqual(values === 'raw' ? rows : rows.map(guarded));
      const again = new ExportOfFile(piecesOf(file, size), values);
      expect([(await joined(again)).equals(bytes), again.header]).toEqual([true, csvHeader]);
    }),
  );
});

test('an export with other columns is refused, and a file that is no UTF-8 is one', async () => {
  const other = Buffer.from('id,status,other\r\na,,\r\n');
  await expect(joined(fileOfExport(piecesOf(other, 5), 'raw'))).rejects.toMatchObject({ code: 'SOURCE_UNKNOWN' });
  await expect(joined(new ExportOfFile(piecesOf(Buffer.from([0x61, 0xff]), 1), 'raw'))).rejects.toThrow(
    'it must be text in UTF-8',
  );
});
