import { expect, test } from 'vitest';
import { readIds } from './read-ids.ts';

test('ids are separated by spaces, commas or new lines, and count once', () => {
  expect(readIds('a= b,c\n\n b ;d\r\n')).toEqual(['a=', 'b', 'c', 'd']);
  expect(readIds(' \n')).toEqual([]);
});
