import { expect, test } from 'vitest';
import { type Column, fitTable } from './fit-table.ts';

interface Row {
  readonly id: string;
  readonly name: string;
}
const columns: readonly Column<Row>[] = [
  { header: 'ID', cell: ({ id }) => id },
  { header: 'NAME', cell: ({ name }) => name },
  { header: 'LENGTH', cell: ({ name }) => String(name.length), drop: 1, align: 'right' },
];
const rows: readonly Row[] = [
  { id: 'first', name: 'Europe 5 GB, 30 days' },
  { id: 'second', name: '日本 1 GB' },
];
const linesIn = (width?: number) => {
  const table = fitTable(columns, rows, width);
  return [table.header(), ...rows.map((row) => table.line(row))];
};

test('a table has the widths of its cells, and wide characters count as two columns', () => {
  expect(linesIn()).toEqual([
    'ID      NAME                  LENGTH',
    'first   Europe 5 GB, 30 days      20',
    'second  日本 1 GB                  7',
  ]);
});

test('a narrow table leaves out columns and names them', () => {
  expect(linesIn(30)).toEqual(['ID      NAME', 'first   Europe 5 GB, 30 days', 'second  日本 1 GB']);
  expect(fitTable(columns, rows, 30).dropped).toEqual(['LENGTH']);
});

test('control characters of a record do not reach the terminal', () => {
  const table = fitTable(columns, rows);
  expect(table.line({ id: 'a\u001b[31m', name: '\u009b2J\u202e' })).toBe(
    'a\ufffd[31m  \ufffd2J\ufffd                       4',
  );
});

test('a column that is not left out keeps the whole value, whatever the terminal', () => {
  expect(linesIn(3)).toEqual(linesIn(30));
});
