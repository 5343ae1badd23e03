import { expect, test } from 'vitest';
import { preferredCoding } from './content-encoding.ts';

test.each([
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['br, gzip', 'br'],
  ['gzip;q=1, br;q=0.5', 'gzip'],
  ['gzip; q=0.5 , br;q=0.6', 'br'],
  ['*', 'zstd'],
  ['*;q=0.1, gzip;q=0.2', 'gzip'],
  ['zstd;q=0, *', 'br'],
  ['identity;q=0.5, gzip;q=0.4', undefined],
  ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ['identity', undefined],
  ['gzip;q=0', undefined],
  ['gzip;q=abc', undefined],
  ['gzip;q=2', undefined],
  ['*;q=0', undefined],
  ['', undefined],
  [';;;,,,', undefined],
  ['deflate, x-gzip', undefined],
  [undefined, undefined],
] as const)('Accept-Encoding: %s is answered with %s', (header, coding) => {
  expect(preferredCoding(header)).toBe(coding);
});
