import { expect, test } from 'vitest';
import { defaultPageLimits } from '../../contract/report.ts';
import { parseReport } from './parse.ts';
import { planReport } from './plan.ts';

const plan = (query: string, firstPage: 0 | 1 = 1) =>
  planReport(parseReport(query, { limits: { ...defaultPageLimits, firstPage }, now: () => 1_000 }, 'json'), firstPage);

test('an empty query reads the first 20 records by creation date', () => {
  expect(plan('')).toEqual({
    filter: { dateColumn: 'created_date' },
    order: { column: 'created_date', descending: false },
    position: { kind: 'offset', skip: 0 },
    size: 20,
    layout: 'array',
  });
});

test('bounds in whole seconds stay as they are', () => {
  expect(plan('before=1970-01-01T00:00:10Z&after=1970-01-01T00:00:05Z').filter).toEqual({
    dateColumn: 'created_date',
    beforeSeconds: 10,
    afterSeconds: 5,
  });
});

test('a bound with a fraction compares exactly: 10 is before 10.002, 10 is not after 10.002', () => {
  expect(plan('before=1970-01-01T00:00:10.002Z').filter.beforeSeconds).toBe(11);
  expect(plan('after=1970-01-01T00:00:10.002Z').filter.afterSeconds).toBe(10);
});

test.each([
  ['createdDate', 'created_date', false],
  ['-createdDate', 'created_date', true],
  ['activationDate', 'activation_date', false],
  ['-expirationDate', 'expiration_date', true],
])('sort=%s', (sort, column, descending) => {
  expect(plan(`sort=${sort}`).order).toEqual({ column, descending });
});

test('date-field selects the date that the bounds compare', () => {
  expect(plan('date-field=activation').filter.dateColumn).toBe('activation_date');
  expect(plan('date-field=expiration').filter.dateColumn).toBe('expiration_date');
});

test('a page number skips the records of the pages before it', () => {
  expect(plan('page=4&size=50').position).toEqual({ kind: 'offset', skip: 150 });
  expect(plan('page=4&size=50', 0).position).toEqual({ kind: 'offset', skip: 200 });
});

test('created-from is inclusive, created-to exclusive: fractions round up to whole seconds', () => {
  const span = (from: string, to: string) =>
    plan(`created-from=1970-01-01T00:00:${from}Z&created-to=1970-01-01T00:00:${to}Z`);
  expect(span('05', '10').filter).toEqual({ dateColumn: 'created_date', afterSeconds: 4, beforeSeconds: 10 });
  expect(span('05.2', '10.2').filter).toEqual({ dateColumn: 'created_date', afterSeconds: 5, beforeSeconds: 11 });
});

test('expires-within starts after now and includes its last second', () => {
  expect(plan('expires-within=PT60S').filter).toEqual({
    dateColumn: 'expiration_date',
    afterSeconds: 1_000,
    beforeSeconds: 1_061,
  });
});

test('bounds of one date are merged to the narrower ones; bounds of other dates follow, the creation date first', () => {
  const times = 'after=1970-01-01T00:00:05Z&before=1970-01-01T00:00:20Z';
  expect(plan(`${times}&created-from=1970-01-01T00:00:10Z&created-to=1970-01-01T00:01:00Z`).filter).toEqual({
    dateColumn: 'created_date',
    afterSeconds: 9,
    beforeSeconds: 20,
  });
  expect(
    plan(`${times}&date-field=activation&created-to=1970-01-01T00:01:00Z&expires-within=PT1S&device-id=d`).filter,
  ).toEqual({
    dateColumn: 'created_date',
    beforeSeconds: 60,
    furtherBounds: [
      { dateColumn: 'activation_date', afterSeconds: 5, beforeSeconds: 20 },
      { dateColumn: 'expiration_date', afterSeconds: 1_000, beforeSeconds: 1_002 },
    ],
    deviceId: 'd',
  });
});
