import { expect, test } from 'vitest';
import { exportAsOf } from '../../contract/as-of.ts';
import { changeParameters } from '../../contract/change.ts';
import { changesSummaryParameters } from '../../contract/changes-summary.ts';
import { defaultPageLimits } from '../../contract/report.ts';
import { findZone } from '../../contract/zone.ts';
import { readDate, readParameters, readSeconds } from './filter-options.ts';

const now = Date.parse('2026-05-10T12:30:00Z') / 1000;

test.each([
  ['7d', '2026-05-03T12:30:00Z'],
  ['-30d', '2026-04-10T12:30:00Z'],
  ['+12h', '2026-05-11T00:30:00Z'],
  ['P1DT1H', '2026-05-09T11:30:00Z'],
  ['now', '2026-05-10T12:30:00Z'],
  ['today', '2026-05-10T00:00:00Z'],
  ['yesterday', '2026-05-09T00:00:00Z'],
  ['tomorrow', '2026-05-11T00:00:00Z'],
  ['2024-05-01', '2024-05-01T00:00:00Z'],
  ['2024-05-01T02:00:00.5+02:00', '2024-05-01T02:00:00.5+02:00'],
])('the date %s is sent as %s', (text, instant) => {
  expect(readDate(text, { nowSeconds: now })).toBe(instant);
});

test.each([
  ['today', '2026-05-09T22:00:00Z'],
  ['yesterday', '2026-05-08T22:00:00Z'],
  ['2026-03-30', '2026-03-29T22:00:00Z'],
  ['2026-03-29T02:30', '2026-03-29T01:00:00Z'], // skipped: the end of the gap
  ['2026-10-25T02:30:00.5', '2026-10-25T00:30:00.5Z'], // the first of two
  ['7d', '2026-05-03T12:30:00Z'],
  ['2024-05-01T02:00:00Z', '2024-05-01T02:00:00Z'],
  ['2024-02-30', undefined],
])('the date %s in Berlin is %s', (text, instant) => {
  expect(readDate(text, { nowSeconds: now, zone: findZone('Europe/Berlin') })).toBe(instant);
});

test.each(['', '7', '7m', '--7d', '+', '0d', '2024-02-30', '1 May', 'Today', 'constructor'])(
  "'%s' is not a date",
  (text) => {
    expect(readDate(text, { nowSeconds: now })).toBeUndefined();
  },
);

const { since } = changeParameters(defaultPageLimits);
const moments = { 'as-of': exportAsOf, since, until: changesSummaryParameters.until };

test.each(Object.entries(moments))('--%s takes a date, or what the service takes for a moment', (name, schema) => {
  const option = name === 'as-of' ? 'asOf' : name;
  const read = (value: string) => readParameters({ [option]: value }, { [name]: schema });
  for (const date of ['yesterday', '7d', '2024-05-01']) {
    const { values, dates } = read(date);
    expect(values[name]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(dates).toEqual([{ name, instant: values[name] }]);
  }
  for (const moment of ['41', 'AAAB', '2024-05-01T00:00:00Z']) {
    expect(read(moment).values).toEqual({ [name]: moment });
    expect(read(moment).dates).toEqual([]);
  }
  // of since, the service's own word for the present token
  expect(read('now')).toEqual({ values: name === 'since' ? { since: 'now' } : {}, dates: [] });
});

test('seconds are a number in the range that the message names', () => {
  expect(['1', '99999'].map(readSeconds)).toEqual([1, 99_999]);
  for (const text of ['0', '100000', '-1', '1.5', '1e3', 'ten', ''])
    expect(() => readSeconds(text)).toThrow('It must be a number of seconds from 1 to 99999, such as 10');
});
