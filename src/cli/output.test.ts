import { expect, test } from 'vitest';
import { formatTable } from './output.ts';

test('a table has columns as wide as their widest cell, and no blanks at line ends', () => {
  expect(
    formatTable(
      ['NAME', 'N'],
      [
        ['a', '1'],
        ['longer one', ''],
      ],
    ),
  ).toBe('NAME        N\na           1\nlonger one');
});
