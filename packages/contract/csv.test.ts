import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { guardText, revealText, writeCsvLine, writeRecordLine } from './csv.ts';

test.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', "'\r=1"],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠x', "'＠x"],
  ["'=1", "''=1"],
  ["''-1", "'''-1"],
])('%j is kept from being a formula', (text, guarded) => {
  expect(guardText(text)).toBe(guarded);
  expect(revealText(guarded)).toBe(text);
});

test.each(['', 'a', '1-1', ' =1', "'", "''", "'a", "O'Hara", 'a=1', '"=1"', 'ä'])('%j stays as it is', (text) => {
  expect(guardText(text)).toBe(text);
  expect(revealText(text)).toBe(text);
});

const hostile = fc.string({
  unit: fc.constantFrom('=', '+', '-', '@', "'", '"', ',', ';', '\r', '\n', '\t', ' ', 'a', '＝', '😀'),
});

test('no guarded text begins like a formula, and each comes back (property)', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(guardText(text)).not.toMatch(/^[=+\-@\t\r＝＋－＠]/);
      expect(revealText(guardText(text))).toBe(text);
    }),
  );
});

test('lines are read by another reader as they were written (property)', () => {
  fc.assert(
    fc.property(fc.array(fc.array(hostile, { minLength: 1, maxLength: 5 }), { minLength: 1 }), (rows) => {
      const text = rows.map(writeCsvLine).join('');
      const options = { record_delimiter: '\r\n', relax_column_count: true, skip_empty_lines: true };
      expect(parse(text, options)).toEqual(rows);
      expect(rows.map(writeRecordLine).join('').replaceAll('""', '')).toBe(text.replaceAll('""', ''));
    }),
  );
});
