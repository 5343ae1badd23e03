import fc from 'fast-check';
import { expect, test } from 'vitest';
import { guardText, recordColumns, writeRecordLine } from '../../contract/csv.ts';
import { type RecordField, recordFields, recordWith } from '../../contract/record-fields.ts';
import { syntheticRows } from '../import/synthetic-rows.ts';
import { CsvLines } from './csv-lines.ts';

/** The CSV lines of records by the functions of the contract, cell by cell. */
const expectedLines = (records: readonly Tree[]): string =>
  records.map((record) => writeRecordLine(recordColumns.map((column) => cellAt(record, column.split('.'))))).join('');

type Tree = { readonly [name: string]: string | number | Tree };

function cellAt(record: Tree, path: readonly string[]): string | undefined {
  const value = path.reduce<Tree[string] | undefined>((tree, name) => (tree as Tree | undefined)?.[name], record);
  return value === undefined ? undefined : guardText(String(value));
}

const linesOf = (records: readonly string[]): Buffer => Buffer.from(records.map((each) => `${each}\n`).join(''));

const csvOf = (records: readonly string[]): string => String(new CsvLines().convert(linesOf(records)));

const character = fc.constantFrom(...`=+-@'",;{}:\\/\r\n\t \u0000\u007f\u0085éß＝＋－＠ﬁ😀\u2028aZ09_`);
const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('', 'ACTIVE', '2024-05-01T00:00:00Z', 'Europe 5 GB, 30 days', 'Ö') },
  fc.string({ unit: character, maxLength: 6 }),
);
const drawn = ({ type, isOptional }: RecordField): fc.Arbitrary<unknown> => {
  const value: fc.Arbitrary<string | number> = type === 'integer' ? fc.nat() : text;
  return isOptional ? fc.option(value, { nil: undefined }) : value;
};
const record: fc.Arbitrary<Tree> = fc
  .tuple(...recordFields.map(drawn))
  .map((values) => JSON.parse(JSON.stringify(recordWith((_, index) => values[index]))));

/** A line of CSV with these cells, and all others empty. */
const lineWith = (cells: Readonly<Record<string, string>>): string =>
  `${recordColumns.map((name) => cells[name] ?? '').join(',')}\r\n`;

test('CSV lines are those of the contract, whatever the values contain (property)', () => {
  const csv = new CsvLines(); // in the same memory for all
  fc.assert(
    fc.property(fc.array(record, { maxLength: 5 }), (records) => {
      const lines = linesOf(records.map((each) => JSON.stringify(each)));
      expect(String(csv.convert(lines))).toBe(expectedLines(records));
    }),
    { numRuns: 1_000 },
  );
});

/** A record that an import may write, with members of the length of real ones. */
const usualRecord = ([status, id, name, period]: [boolean, string, string, number]): Tree => ({
  id,
  ...(status && { status: 'ACTIVE' }),
  activationDate: '2024-05-01T00:00:00Z',
  expirationDate: '2024-05-31T00:00:00Z',
  createdDate: '2024-05-01T00:00:00Z',
  product: { id, name, period, period_unit: 'DAYS', plan_id: id },
  iccid: '8944500102198304826',
  device_id: name,
  auto_renew: 'false',
});

test('a cell with a semicolon is quoted in both ways of writing a line, so that what follows cannot begin a cell', () => {
  const values = ['a;=1', ';=1', 'a;b;', 'Europe;@x, 5 GB', 'ab;', '=1;=2'];
  const cells = ['"a;=1"', '";=1"', '"a;b;"', '"Europe;@x, 5 GB"', '"ab;"', '"\'=1;=2"'];
  const records = values.map((value) => usualRecord([true, 'id', value, 30]));
  const [usual] = records;
  const expected = cells.map((cell) =>
    lineWith({
      ...Object.fromEntries(recordColumns.map((name) => [name, cellAt(usual as Tree, name.split('.')) ?? ''])),
      'product.name': cell,
      device_id: cell,
    }),
  );
  expect(expectedLines(records)).toBe(expected.join(''));
  expect(csvOf(records.map((each) => JSON.stringify(each)))).toBe(expected.join(''));
});

test('a record that differs in one character from the JSON of an import has the line of its parsed values (property)', () => {
  const fields = fc.tuple(fc.boolean(), fc.string({ minLength: 1, maxLength: 9 }), text, fc.nat(1_000_000));
  fc.assert(
    fc.property(fields, fc.nat(400), fc.constantFrom(...'x" ,:0{}[]-.'), fc.boolean(), (values, at, byte, isAdded) => {
      const json = JSON.stringify(usualRecord(values));
      const changed = [...json].toSpliced(at, isAdded ? 0 : 1, byte).join('');
      const parsed = parseRecord(changed);
      fc.pre(parsed !== undefined);
      expect(csvOf([json, changed, json])).toBe(
        expectedLines([usualRecord(values), parsed as Tree, usualRecord(values)]),
      );
    }),
    { numRuns: 3_000 },
  );
});

function parseRecord(json: string): Tree | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

test('lines that are longer than their records have room', () => {
  const records = ['{"device_id":"\\u0000"}', ...Array(40_000).fill('{}')];
  expect(csvOf(records)).toBe(`${lineWith({ device_id: '\0' })}${lineWith({}).repeat(40_000)}`);
});

test('a record without a line feed is an error', () => {
  for (const record of ['{}', JSON.stringify([...syntheticRows({ count: 1, seed: 1, until: 1_767_225_600 })][0])])
    expect(() => new CsvLines().convert(Buffer.from(`{}\n${record}`))).toThrow(RangeError);
});

test.each(['"period":,', '"period":', '\t', '\r'])('%j where JSON does not allow it is never copied', (wrong) => {
  const json = JSON.stringify(usualRecord([true, 'id', 'somebody', 30]));
  const broken = json.replace(wrong.startsWith('"') ? '"period":30,' : 'somebody', wrong);
  expect(() => csvOf([broken])).toThrow(SyntaxError);
});

test('converted lines stay right when the same memory converts longer and shorter records', () => {
  const csv = new CsvLines();
  for (const length of [3, 200_000, 5, 300_000, 1]) {
    const records = [1, 2].map((period) => usualRecord([true, 'id', 'n,é'.repeat(length), period]));
    expect(String(csv.convert(linesOf(records.map((each) => JSON.stringify(each)))))).toBe(expectedLines(records));
  }
});

test('a record with its members in another order, or with blanks between them, has the same CSV line', () => {
  fc.assert(
    fc.property(record, (each) => {
      const reversed = Object.fromEntries(Object.entries(each).reverse());
      const blanks = JSON.stringify(each, null, '\t').replaceAll('\n', '');
      expect(csvOf([JSON.stringify(reversed), blanks])).toBe(expectedLines([each, each]));
    }),
  );
});
