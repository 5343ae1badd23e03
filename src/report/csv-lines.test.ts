import fc from 'fast-check';
import { expect, test } from 'vitest';
import { guardText, recordColumns, writeCsvLine } from '../contract/csv.ts';
import { splitLines, writeCsvLines } from './csv-lines.ts';

/** The CSV lines of records by the functions of the contract, cell by cell. */
const expectedLines = (records: readonly Tree[]): string =>
  records.map((record) => writeCsvLine(recordColumns.map((column) => cellAt(record, column.split('.'))))).join('');

type Tree = { readonly [name: string]: string | number | Tree };

function cellAt(record: Tree, path: readonly string[]): string {
  const value = path.reduce<Tree[string] | undefined>((tree, name) => (tree as Tree | undefined)?.[name], record);
  return value === undefined ? '' : guardText(String(value));
}

const csvOf = (records: readonly string[]): string =>
  Buffer.from(writeCsvLines(Buffer.from(records.map((record) => `${record}\n`).join(''))), 'latin1').toString();

const character = fc.constantFrom(...`=+-@'",;{}:\\/\r\n\t \u0000\u007f\u0085éß＝＋－＠ﬁ😀\u2028aZ09_`);
const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('', 'ACTIVE', '2024-05-01T00:00:00Z', 'Europe 5 GB, 30 days', 'Ö') },
  fc.string({ unit: character, maxLength: 6 }),
);
const product = fc.record({ id: text, name: text, period: fc.nat(), period_unit: text, plan_id: text });
const record: fc.Arbitrary<Tree> = fc
  .record({
    ...{ id: text, status: fc.option(text, { nil: undefined }), activationDate: text, expirationDate: text },
    ...{ createdDate: text, product, iccid: text, device_id: text, auto_renew: text },
  })
  .map((fields) => JSON.parse(JSON.stringify(fields)));

test('CSV lines are those of the contract, whatever the values contain (property)', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 5 }), (records) => {
      expect(csvOf(records.map((each) => JSON.stringify(each)))).toBe(expectedLines(records));
    }),
    { numRuns: 1_000 },
  );
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

test('parts of lines are as long as the limit allows, and only a longer line exceeds it (property)', () => {
  const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'é'), maxLength: 12 }).map((line) => `${line}\n`));
  fc.assert(
    fc.property(lines, fc.integer({ min: 1, max: 30 }), (all, bytesMax) => {
      const expected: string[] = [];
      for (const line of all) {
        const longer = (expected.at(-1) ?? '') + line;
        if (expected.length > 0 && Buffer.byteLength(longer) <= bytesMax) expected[expected.length - 1] = longer;
        else expected.push(line);
      }
      expect([...splitLines(Buffer.from(all.join('')), bytesMax)].map(String)).toEqual(expected);
    }),
  );
});
