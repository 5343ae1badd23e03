import { expect, test } from 'vitest';
import { counted, formatFields, formatTable } from './output.ts';

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

test.each([
  [0, '0 records'],
  [1, '1 record'],
  [2_000, '2,000 records'],
])('counted says %i as %s', (count, text) => {
  expect(counted(count, 'record')).toBe(text);
});
