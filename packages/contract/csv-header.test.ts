import { describe, expect, test } from 'vitest';
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
});
