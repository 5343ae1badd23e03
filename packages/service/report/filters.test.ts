import { expect, test } from 'vitest';
import { parseInstant } from '../../contract/instant.ts';
import { filterParameters } from '../../contract/query.ts';
import { canonicalFilters, describeFilters, readFilters } from './filters.ts';

test('every filter of the contract is read', () => {
  const names: string[] = ['sort', 'zone']; // read with the order, and before the dates
  const note = (name: string): undefined => void names.push(name);
  readFilters({ read: note, readText: note, readList: () => undefined, zone: undefined });
  expect(names.sort()).toEqual(Object.keys(filterParameters).sort());
});

test('the canonical form has a fixed order, and only the parameters with a value', () => {
  expect(canonicalFilters({ dateField: 'created', statuses: ['ACTIVE', 'EXPIRED'] }, '-createdDate')).toEqual([
    ['status', 'ACTIVE,EXPIRED'],
    ['date-field', 'created'],
    ['sort', '-createdDate'],
  ]);
  expect(canonicalFilters({ dateField: 'activation' })).toEqual([['date-field', 'activation']]);
});

test('dates are written in UTC with their fractions', () => {
  const before = parseInstant('2024-05-01T02:00:00.25+02:00');
  expect(canonicalFilters({ dateField: 'created', ...(before && { before }) })).toEqual([
    ['before', '2024-05-01T00:00:00.25Z'],
    ['date-field', 'created'],
  ]);
});

test('the header redacts the email address and encodes values', () => {
  const query = { dateField: 'created', email: 'ada@example.com', productId: 'a&b=c d', nowSeconds: 0 } as const;
  expect(describeFilters(query, canonicalFilters(query))).toBe('email=***&product-id=a%26b%3Dc%20d&date-field=created');
});

test('the header names the two bounds that expires-within means', () => {
  const query = { dateField: 'created', expiresWithinSeconds: 604_800, nowSeconds: 1_714_521_600 } as const;
  expect(decodeURIComponent(describeFilters(query, canonicalFilters(query)))).toBe(
    'date-field=created&expires-within=P7D&expires-after=2024-05-01T00:00:00Z&expires-until=2024-05-08T00:00:00Z',
  );
});
