import fc from 'fast-check';
import { expect, test } from 'vitest';
import { guardText, recordColumns, writeCsvLine, writeRecordLine } from '../../contract/csv.ts';
import { formatInstantIn } from '../../contract/local-text.ts';
import { recordFields } from '../../contract/record-fields.ts';
import { findZone } from '../../contract/zone.ts';
import { cellsOf, csvHeader, ExportOfFile, fileOfExport } from './csv-file.ts';
import { fromSheetDate, toSheetDate } from './sheet-dates.ts';

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
      const file = await joined(fileOfExport(piecesOf(bytes, size), { values }));
      const [header, ...lines] = file.toString().split('\r\n').slice(0, -1);
      expect(header).toBe(csvHeader);
      expect(lines.map(cellsOf)).toEqual(values === 'raw' ? rows : rows.map(guarded));
      const again = new ExportOfFile(piecesOf(file, size), { values });
      expect([(await joined(again)).equals(bytes), again.header]).toEqual([true, csvHeader]);
    }),
  );
});

test('an export with other columns is refused, and a file that is no UTF-8 is one', async () => {
  const other = Buffer.from('id,status,other\r\na,,\r\n');
  await expect(joined(fileOfExport(piecesOf(other, 5), { values: 'raw' }))).rejects.toMatchObject({
    code: 'SOURCE_UNKNOWN',
  });
  await expect(joined(new ExportOfFile(piecesOf(Buffer.from([0x61, 0xff]), 1), { values: 'raw' }))).rejects.toThrow(
    'it must be text in UTF-8',
  );
});

test('a file for spreadsheets has local dates without offsets, and gives its export again byte by byte', async () => {
  const names = ['Europe/Berlin', 'Australia/Lord_Howe', 'Africa/Monrovia', 'Pacific/Apia', 'Asia/Tokyo', 'UTC'];
  const around = ['2024-10-27T01:00:00Z', '2024-03-31T01:00:00Z', '2024-04-06T15:00:00Z', '9999-12-31T15:00:00Z'];
  const date = fc.oneof(
    fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }),
    fc
      .tuple(fc.constantFrom(...around), fc.integer({ min: -8_000, max: 8_000 }))
      .map(([text, more]) => Date.parse(text) / 1000 + more),
  );
  const rows = fc.array(fc.tuple(record, date), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(rows, fc.constantFrom(...names), fc.integer({ min: 1, max: 40 }), async (drawn, name, size) => {
      const zone = findZone(name);
      const written = drawn.map(([cells, seconds]) =>
        guarded(cells).map((cell, index) =>
          recordFields[index]?.type === 'instant' && zone ? formatInstantIn(zone, seconds) : cell,
        ),
      );
      const bytes = Buffer.from(writeCsvLine(recordColumns) + written.map(writeRecordLine).join(''));
      const flavor = { values: 'spreadsheet', zone } as const;
      const file = await joined(fileOfExport(piecesOf(bytes, size), flavor));
      const [header, ...lines] = file.toString().split('\r\n').slice(0, -1);
      expect(header).toContain(`created_date (${name})`);
      for (const [at, line] of lines.entries()) {
        const cell = cellsOf(line)[4] ?? '';
        const exported = written[at]?.[4] ?? '';
        // only the second of two equal times, and what stays in UTC
        expect([exported.slice(0, 19).replace('T', ' '), exported]).toContain(
          cell.slice(0, cell.endsWith('Z') ? 20 : 19),
        );
      }
      const again = new ExportOfFile(piecesOf(file, size), flavor);
      expect([(await joined(again)).toString(), again.header]).toEqual([bytes.toString(), header]);
    }),
  );
});

test.each([
  ['2024-05-01T10:00:00+02:00', '2024-05-01 10:00:00'],
  ['2024-10-27T02:30:00+02:00', '2024-10-27 02:30:00'],
  ['2024-10-27T02:30:00+01:00', '2024-10-27 02:30:00+01:00'],
  ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
])('for spreadsheets, %s is %s', (exported, expected) => {
  const zone = findZone('Europe/Berlin');
  expect(zone && [toSheetDate(zone, exported), fromSheetDate(zone, expected)]).toEqual([expected, exported]);
});
