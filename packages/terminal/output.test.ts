import { expect, test } from 'vitest';
import { formatFields, formatTable } from './output.ts';

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

test('formatFields aligns the values after the longest name', () => {
  expect(formatFields({ id: 'a', rate_limit_per_minute: null, external: false, scopes: '' })).toBe(
    'id                     a\nrate_limit_per_minute  -\nexternal               false\nscopes                 -',
  );
});
