import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ReportFilters } from '../link/report-state.ts';
import { countedDate, filtersOfCount } from './count-links.ts';

const now = new Date('2026-03-15T12:00:00Z');

test.each([
  ['product-id', 'p1', {}, { 'product-id': 'p1' }],
  ['status', null, {}, { status: 'none' }],
  // the text, not the absence
  ['status', 'none', {}, { status: '\\none' }],
  ['plan-id', 'none', {}, { 'plan-id': 'none' }],
  // no filter selects records without a plan
  ['plan-id', null, {}, undefined],
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

const dates = ['created', 'activation', 'expiration'] as const;
type Dates = Record<(typeof dates)[number], number>;

/** Whether a record matches filters, as docs/readers/report.md describes them. */
function matches(record: Dates, filters: ReportFilters): boolean {
  const at = (name: 'after' | 'before' | 'created-from' | 'created-to'): number | undefined =>
    filters[name] === undefined ? undefined : Date.parse(filters[name]);
  const compared = record[(filters['date-field'] ?? 'created') as keyof Dates];
  const [after = -Infinity, before = Infinity] = [at('after'), at('before')];
  const [from = -Infinity, to = Infinity] = [at('created-from'), at('created-to')];
  return after < compared && compared < before && from <= record.created && record.created < to;
}

const dayMs = 86_400_000;
// few instants, so that bounds fall on the begin of days and months, and on records
const drawnMs = fc
  .record({ day: fc.integer({ min: -40, max: 40 }), second: fc.constantFrom(0, 1, 43_200, 86_399) })
  .map(({ day, second }) => Date.UTC(2026, 2, 1) + day * dayMs + second * 1000);
const bound = fc.option(
  drawnMs.map((ms) => `${new Date(ms).toISOString().slice(0, 19)}Z`),
  { nil: undefined },
);

test('the link of each month and day has the total that was counted, whatever the filters', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ created: drawnMs, activation: drawnMs, expiration: drawnMs }), {
        minLength: 1,
        maxLength: 30,
      }),
      fc.record({ 'created-from': bound, 'created-to': bound, after: bound, before: bound }),
      fc.constantFrom(undefined, ...dates),
      fc.constantFrom('day' as const, 'month' as const),
      (records, bounds, field, by) => {
        // without a date, before and after limit the creation, which is counted by created-from and
        // created-to
        const given = Object.entries({ ...bounds, ...(field && { 'date-field': field }) });
        const filters = Object.fromEntries(given.filter(([, value]) => value !== undefined)) as ReportFilters;
        const date = countedDate(filters);
        const bucketOf = (record: Dates) => new Date(record[date]).toISOString().slice(0, by === 'day' ? 10 : 7);
        const counted = Map.groupBy(
          records.filter((record) => matches(record, filters)),
          bucketOf,
        );
        for (const [value, members] of counted) {
          const link = { ...filters, ...filtersOfCount(by, value, filters, now) } as ReportFilters;
          expect([value, records.filter((record) => matches(record, link)).length]).toEqual([value, members.length]);
        }
      },
    ),
    { numRuns: 300 },
  );
});
