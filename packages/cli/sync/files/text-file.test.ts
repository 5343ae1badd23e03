import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordFields, recordWith } from '../../../contract/record-fields.ts';
import { cellsOf, csvHeader, csvOfExport, exportLineOf } from './text-file.ts';

const text = fc.oneof(
  fc.string({ maxLength: 6 }).map((drawn) => drawn.replace(/\p{Cc}/gu, '')),
  fc.constantFrom('', '-abc', '=1+1', "'", "'-", "''=", '＝1', '+4,"5"', '@;', '\u2028-', '\ufeff'),
);
const drawnOf: Readonly<Record<string, fc.Arbitrary<string | number>>> = {
  ...{ text, instant: text },
  ...{ integer: fc.integer(), boolean: fc.constantFrom('true', 'false') },
};
const record = fc.tuple(
  ...recordFields.map(({ type, isOptional }) => {
    const value = drawnOf[type] ?? text;
    return isOptional ? fc.option(value, { nil: undefined }) : value;
  }),
);
const records = fc.array(record, { maxLength: 6 });

/** The same bytes in pieces that split lines and characters. */
async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test('a file of CSV has the values of the report, and each of its lines gives that of the export again', async () => {
  const given = fc.tuple(records, fc.integer({ min: 1, max: 40 }));
  await fc.assert(
    fc.asyncProperty(given, async ([drawn, size]) => {
      const lines = drawn.map((row) => JSON.stringify(recordWith((_, index) => row[index])));
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      const file = Buffer.concat(await Array.fromAsync(csvOfExport(piecesOf(bytes, size)))).toString();
      const [header, ...written] = file.split('\r\n').slice(0, -1);
      expect(header).toBe(csvHeader);
      const cells = drawn.map((row) => row.map((value) => (value === undefined ? undefined : String(value))));
      expect(written.map(cellsOf)).toEqual(cells);
      expect(written.map((line) => exportLineOf(`${line}\r`))).toEqual(lines);
    }),
  );
});

test('a record with a field that this version does not know is refused', async () => {
  const later = Buffer.from('{"id":"a","later":1}\n');
  await expect(Array.fromAsync(csvOfExport(piecesOf(later, 5)))).rejects.toMatchObject({
    code: 'SOURCE_UNKNOWN',
  });
});
