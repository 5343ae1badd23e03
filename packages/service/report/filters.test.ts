import { expect, test } from 'vitest';
import { filterParameters } from '../../contract/query.ts';
import { canonicalFilters, readFilters } from './filters.ts';

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
