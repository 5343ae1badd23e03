import { expect, test } from 'vitest';
import { formatTable } from './output.ts';

test('formatTable makes columns as wide as their widest cell and leaves no blanks at line ends', () => {
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
