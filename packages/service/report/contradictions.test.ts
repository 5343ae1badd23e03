import { describe, expect, test } from 'vitest';
import { type Instant, parseInstant } from '../../contract/instant.ts';
import { findContradictions, findUnstreamable } from './contradictions.ts';
import type { ReportFilters } from './filters.ts';

const instant = (day: number, fraction = ''): Instant => {
  const parsed = parseInstant(`2024-05-0${day}T00:00:00${fraction}Z`);
  if (parsed === undefined) throw new TypeError('no instant');
  return parsed;
};
const anywhere = { cursor: undefined, page: undefined, fingerprint: 'a' };
const faultsOf = (filters: Partial<ReportFilters>): string[] =>
  findContradictions({ dateField: 'created', ...filters }, anywhere).map(({ parameter }) => parameter);

describe('two bounds of one date', () => {
  test.each([
    ['before is after', { after: instant(1), before: instant(1) }, ['before']],
    ['before is earlier than after', { after: instant(2), before: instant(1) }, ['before']],
    ['before is a fraction later than after', { after: instant(1), before: instant(1, '.001') }, []],
    ['created-to is created-from', { createdFrom: instant(1), createdTo: instant(1) }, ['created-to']],
    ['created-from is before', { createdFrom: instant(2), before: instant(2) }, ['before']],
    ['created-to is after', { createdTo: instant(2), after: instant(2) }, ['created-to']],
    [
      'the bounds are of different dates',
      { dateField: 'expiration' as const, createdFrom: instant(2), before: instant(1) },
      [],
    ],
  ])('%s', (_title, filters, parameters) => {
    expect(faultsOf(filters)).toEqual(parameters);
  });
});

test.each([
  ['expiration', { before: instant(1) }, ['expires-within']],
  ['expiration', { after: instant(1) }, ['expires-within']],
  ['expiration', {}, []],
  ['created', { before: instant(1) }, []],
] as const)('expires-within beside bounds of date-field=%s: %j', (dateField, bounds, parameters) => {
  expect(faultsOf({ dateField, expiresWithinSeconds: 86_400, ...bounds })).toEqual(parameters);
});

describe('a cursor', () => {
  const cursor = { direction: 'after', key: { date: 1, id: 'a' }, page: 3, query: 'a' } as const;
  test.each([
    ['of this query, without a page', { cursor, page: undefined, fingerprint: 'a' }, []],
    ['of this query, with its own page', { cursor, page: 3, fingerprint: 'a' }, []],
    ['of this query, with another page', { cursor, page: 2, fingerprint: 'a' }, ['page']],
    ['of another query', { cursor, page: 2, fingerprint: 'b' }, ['cursor']],
  ])('%s', (_title, position, parameters) => {
    const faults = findContradictions({ dateField: 'created' }, position);
    expect(faults.map(({ parameter }) => parameter)).toEqual(parameters);
  });
});

test('all=true is used without a position, and not as JSON', () => {
  const pairs = ['all', 'size', 'page', 'cursor', 'status'].map((name) => ({ name, value: '1' }));
  expect(findUnstreamable(pairs, 'csv').map(({ parameter }) => parameter)).toEqual(['size', 'page', 'cursor']);
  expect(findUnstreamable([], 'json').map(({ parameter }) => parameter)).toEqual(['all']);
  expect(findUnstreamable([], 'ndjson')).toEqual([]);
});
