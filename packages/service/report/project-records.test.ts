import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { recordColumns, writeRecordLine } from '../../contract/csv.ts';
import { type RecordField, recordFields, recordWith, valueAt } from '../../contract/record-fields.ts';
import { syntheticRows } from '../import/synthetic-rows.ts';
import { selectColumns } from './csv-columns.ts';
import { CsvLines, csvHeader } from './csv-lines.ts';
import { RecordProjection } from './project-records.ts';

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
      const projection = new RecordProjection(fields);
      const lines = linesOf(records.map((each) => JSON.stringify(each)));
      const expected = records.map((each) => expectedJson(each, fields));
      expect(String(projection.convert(lines, 'array'))).toBe(`[${expected.join(',')}]`);
      expect(String(projection.convert(lines, 'lines'))).toBe(String(linesOf(expected)));
      expect(projection.convertTexts(records.map((each) => JSON.stringify(each)))).toEqual(expected);
    }),
    { numRuns: 2_000 },
  );
});

test('a record with its members in another order, or with blanks between them, has the same fields', () => {
  fc.assert(
    fc.property(record, someFields, (each, fields) => {
      const reversed = Object.fromEntries(Object.entries(each).reverse());
      const blanks = JSON.stringify(each, null, '\t').replaceAll('\n', '');
      const expected = expectedJson(each, fields);
      const lines = linesOf([JSON.stringify(reversed), blanks, JSON.stringify(each)]);
      expect(String(new RecordProjection(fields).convert(lines, 'lines'))).toBe(`${expected}\n`.repeat(3));
    }),
  );
});

test('a record that is longer than its stored JSON has room', () => {
  const records = ['{"product":{"period":1e5}}', ...Array(10_000).fill('{"product":{}}')];
  const expected = `{"product":{"period":100000}}\n${'{"product":{}}\n'.repeat(10_000)}`;
  expect(String(new RecordProjection(['product.period']).convert(linesOf(records), 'lines'))).toBe(expected);
});

test('records as an import writes them are not parsed, with or without escapes and optional members', () => {
  const records = [...syntheticRows({ count: 500, seed: 1, until: 1_767_225_600 })].map(
    ({ email: _email, ...each }, n) => {
      const { id, ...members } = each.product;
      const kept = Object.entries(members).filter((_, index) => ((n >> index) & 1) === 1);
      return { ...each, device_id: n % 3 === 0 ? '"\\' : '', product: { id, ...Object.fromEntries(kept) } };
    },
  );
  const lines = linesOf(records.map((each) => JSON.stringify(each)));
  const parse = vi.spyOn(JSON, 'parse');
  const found = recordColumns.map((name) => String(new RecordProjection([name]).convert(lines, 'lines')));
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
  expect(found).toEqual(
    recordColumns.map((name) => String(linesOf(records.map((each) => expectedJson(each, [name]))))),
  );
});

test('converted records have memory of their own, which later ones leave as it is', () => {
  const [first, second] = ['a', 'b'].map((id) => {
    const bytes = new RecordProjection(['id']).convert(linesOf([`{"id":"${id}","status":"ACTIVE"}`]), 'lines');
    expect(bytes.byteLength).toBe(bytes.buffer.byteLength);
    return bytes;
  });
  expect([String(first), String(second)]).toEqual(['{"id":"a"}\n', '{"id":"b"}\n']);
});

test('a record without a line feed is an error', () => {
  for (const each of ['{}', JSON.stringify([...syntheticRows({ count: 1, seed: 1, until: 1_767_225_600 })][0])])
    expect(() => new RecordProjection(['id']).convert(Buffer.from(`{}\n${each}`), 'lines')).toThrow(RangeError);
});

test('CSV lines have the cells of some fields in their order, quoted as before (property)', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 5 }), someFields, (records, fields) => {
      const lines = Buffer.from(new CsvLines().convert(linesOf(records.map((each) => JSON.stringify(each)))));
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
      expect(String(selectColumns(lines, fields))).toBe(cells.map((each) => `${each.join(',') || '""'}\r\n`).join(''));
    }),
    { numRuns: 1_000 },
  );
  expect(String(csvHeader(['iccid', 'product.name']))).toBe(writeRecordLine(['iccid', 'product.name']));
  expect(() => selectColumns(Buffer.from('a,b\r\n'), ['id'])).toThrow(RangeError);
});
