import { expect, test } from 'vitest';
import { type Column, displayWidth, fitTable } from './fit-table.ts';

interface Row {
  readonly id: string;
  readonly name: string;
}
const columns: readonly Column<Row>[] = [
  { header: 'ID', cell: ({ id }) => id },
  { header: 'NAME', cell: ({ name }) => name, least: 6 },
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

test('a table that fits is not cut, and wide characters count as two columns', () => {
  expect(linesIn()).toEqual([
    'ID      NAME                  LENGTH',
    'first   Europe 5 GB, 30 days      20',
    'second  日本 1 GB                  7',
  ]);
});

test('a narrow table cuts the columns that may be cut', () => {
  expect(linesIn(30)).toEqual([
    'ID      NAME            LENGTH',
    'first   Europe 5 GB, …      20',
    'second  日本 1 GB            7',
  ]);
});

test('a narrower table leaves out columns and names them', () => {
  expect(linesIn(16)).toEqual(['ID      NAME', 'first   Europe …', 'second  日本 1 …']);
  expect(fitTable(columns, rows, 16).dropped).toEqual(['LENGTH']);
});

test('control characters of a record do not reach the terminal', () => {
  const table = fitTable(columns, rows);
  expect(table.line({ id: 'a\u001b[31m', name: '\u009b2J\u202e' })).toBe(
    'a\ufffd[31m  \ufffd2J\ufffd                       4',
  );
});

test('a column that is not cut keeps the whole value, whatever the terminal', () => {
  expect(linesIn(3).every((line, n) => line.startsWith(['ID', 'first', 'second'][n] ?? ''))).toBe(true);
  expect(displayWidth(linesIn(3)[2] ?? '')).toBeGreaterThan(3);
});
