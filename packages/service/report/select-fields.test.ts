import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordColumns, writeRecordLine } from '../../contract/csv.ts';
import { type RecordField, recordFields, recordWith, valueAt } from '../../contract/record-fields.ts';
import { findZone } from '../../contract/zone.ts';
import { CsvLines, csvHeader } from './csv-lines.ts';
import { createLineWriter, createSelection, selectArray } from './select-fields.ts';

/** A record with some fields, by means of its parsed JSON. */
function expectedJson(record: object, fields: readonly string[]): string {
  const members = Object.entries(record).flatMap(([name, value]) => {
    if (name !== 'product') return fields.includes(name) ? [[name, value]] : [];
    const parts = Object.entries(value as object).filter(([part]) => fields.includes(`product.${part}`));
    return fields.some((each) => each.startsWith('product.')) ? [[name, Object.fromEntries(parts)]] : [];
  });
  return JSON.stringify(Object.fromEntries(members));
}

const linesOf = (records: readonly string[]): Buffer => Buffer.from(records.map((each) => `${each}\n`).join(''));

const character = fc.constantFrom(...`=+-@'",;{}:\\/\r\n\t \u0000\u007f\u0085éß＝ﬁ😀\u2028aZ09_`);
const text = fc.oneof(fc.constantFrom('', 'ACTIVE', 'Europe 5 GB'), fc.string({ unit: character, maxLength: 9 }));
const drawn = ({ type, isOptional }: RecordField): fc.Arbitrary<unknown> => {
  const value: fc.Arbitrary<string | number> = type === 'integer' ? fc.nat() : text;
  return isOptional ? fc.option(value, { nil: undefined }) : value;
};
const record = fc
  .tuple(...recordFields.map(drawn))
  .map((values): object => JSON.parse(JSON.stringify(recordWith((_, index) => values[index]))));
const someFields = fc.shuffledSubarray([...recordColumns], { minLength: 1 });

test('a record with some fields has its members in its own order, whatever the values contain (property)', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 5 }), someFields, (records, fields) => {
      const texts = records.map((each) => JSON.stringify(each));
      const expected = records.map((each) => expectedJson(each, fields));
      expect(String(selectArray(Buffer.from(JSON.stringify(records)), fields))).toBe(`[${expected.join(',')}]`);
      expect(String(createLineWriter({ format: 'ndjson', fields })(linesOf(texts)))).toBe(String(linesOf(expected)));
      expect(texts.map(createSelection(fields))).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
});

test('a record with its members in another order, or with blanks between them, has the same fields', () => {
  fc.assert(
    fc.property(record, someFields, (each, fields) => {
      const reversed = Object.fromEntries(Object.entries(each).reverse());
      const blanks = JSON.stringify(each, null, '\t').replaceAll('\n', '');
      const expected = expectedJson(each, fields);
      const lines = linesOf([JSON.stringify(reversed), blanks, JSON.stringify(each)]);
      expect(String(createLineWriter({ format: 'ndjson', fields })(lines))).toBe(`${expected}\n`.repeat(3));
    }),
  );
});

test('CSV lines have the cells of some fields in their order, quoted as before (property)', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 5 }), someFields, (records, fields) => {
      const lines = linesOf(records.map((each) => JSON.stringify(each)));
      const cells = records.map((each) =>
        fields.map((name) => {
          const field = recordFields.find((other) => other.name === name) as RecordField;
          const only = recordWith((other) => (other === field ? valueAt(each, field) : undefined));
          // the cell alone, in a line in which it is the only one that is not empty
          const line = String(new CsvLines().convert(linesOf([JSON.stringify(only)])));
          return line.slice(
            recordFields.indexOf(field),
            line.length - (recordFields.length - recordFields.indexOf(field)) - 1,
          );
        }),
      );
      const written = String(createLineWriter({ format: 'csv', fields })(lines));
      expect(written).toBe(cells.map((each) => `${each.join(',') || '""'}\r\n`).join(''));
    }),
    { numRuns: 1_000 },
  );
  expect(String(csvHeader(['iccid', 'product.name']))).toBe(writeRecordLine(['iccid', 'product.name']));
});

test('dates in a zone are local, in all columns or some, and a text that is no date stays', () => {
  const dates = {
    activationDate: '2024-05-01T08:00:00Z',
    expirationDate: '2024-12-31T23:30:00Z',
    createdDate: '=2024',
  };
  const lines = linesOf([JSON.stringify({ id: 'a', ...dates })]);
  const datesIn = findZone('Europe/Berlin');
  const cells = ['a', '', '2024-05-01T10:00:00+02:00', '2025-01-01T00:30:00+01:00', "'=2024"];
  const whole = String(createLineWriter({ format: 'csv', datesIn })(lines));
  expect(whole).toBe(`${[...cells, ...recordFields.slice(5).map(() => '')].join()}\r\n`);
  const some = createLineWriter({ format: 'csv', datesIn, fields: ['createdDate', 'expirationDate', 'id'] });
  expect(String(some(lines))).toBe("'=2024,2025-01-01T00:30:00+01:00,a\r\n");
});
