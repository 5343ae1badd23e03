import { expect, test } from 'vitest';
import { filtersOfCount } from './count-links.ts';

const now = new Date('2026-03-15T12:00:00Z');

test.each([
  ['product-id', 'p1', {}, { 'product-id': 'p1' }],
  ['status', null, {}, { status: 'none' }],
  ['month', '2026-12', {}, { 'created-from': '2026-12-01T00:00:00Z', 'created-to': '2027-01-01T00:00:00Z' }],
  [
    'month',
    '2026-03',
    { 'created-from': '2026-03-10T00:00:00Z', 'created-to': '2026-04-10T00:00:00Z' },
    { 'created-from': '2026-03-10T00:00:00Z', 'created-to': '2026-04-01T00:00:00Z' },
  ],
  [
    'day',
    '2026-03-15',
    { 'expires-within': '7d' },
    {
      'expires-within': undefined,
      'date-field': 'expiration',
      after: '2026-03-15T12:00:00Z',
      before: '2026-03-16T00:00:00Z',
    },
  ],
  [
    'day',
    '2026-03-16',
    { 'date-field': 'activation', after: '2026-03-01T00:00:00Z', before: '2026-03-16T08:00:00Z' },
    {
      'expires-within': undefined,
      'date-field': 'activation',
      after: '2026-03-15T23:59:59Z',
      before: '2026-03-16T08:00:00Z',
    },
  ],
] as const)('a count by %s of %s under the filters %j leads to what it counts', (by, value, filters, changes) => {
  expect(filtersOfCount(by, value, filters, now)).toEqual(changes);
});
