import { describe, expect, test } from 'vitest';
import { createdChart, endingChart } from './charts.ts';
import { lastMonths, nextDays } from './periods.ts';

const now = new Date('2026-03-15T12:00:00Z');

describe('createdChart', () => {
  const totals = {
    total: 7,
    by: {
      status: [
        { value: 'ACTIVE', count: 5 },
        { value: 'EXPIRED', count: 1 },
        { value: null, count: 1 },
      ],
    },
  };
  const chart = createdChart({
    totals,
    periods: lastMonths(now, 3),
    all: [
      { value: '2026-01', count: 6 },
      { value: '2026-03', count: 1 },
    ],
    parts: new Map([
      ['EXPIRED', [{ value: '2026-01', count: 1 }]],
      [
        'ACTIVE',
        [
          { value: '2026-01', count: 4 },
          { value: '2026-03', count: 1 },
        ],
      ],
    ]),
  });

  test('has a column for every month, with the text of its numbers', () => {
    expect(chart.columns.map(({ text }) => text)).toEqual([
      'January 2026: 6 created, 4 active, 1 expired, 1 no status',
      'February 2026: none created',
      'March 2026, so far: 1 created, 1 active',
    ]);
  });

  test('stacks the statuses in their own order and counts the rest as no status', () => {
    expect(chart.series.map(({ label, tone, total }) => [label, tone, total])).toEqual([
      ['Active', 'active', 5],
      ['Expired', 'expired', 1],
      ['No status', 'unknown', 1],
    ]);
    expect(chart.series.at(-1)?.href).toContain('?status=none&created-from=2026-01-01T00:00:00Z');
    expect(chart.columns[0]?.values).toEqual([4, 1, 1]);
    expect(chart.columns.map(({ isUnfinished }) => isUnfinished)).toEqual([false, false, true]);
  });

  test('the rest is never negative, if records were loaded between two responses', () => {
    const { columns } = createdChart({
      totals,
      periods: lastMonths(now, 1),
      all: [{ value: '2026-03', count: 1 }],
      parts: new Map([['ACTIVE', [{ value: '2026-03', count: 2 }]]]),
    });
    expect(columns[0]?.values).toEqual([2]);
  });
});

describe('endingChart', () => {
  const counts = { now, filters: { 'expires-within': '60d' }, periods: nextDays(now, 60) };
  const all = [
    { value: '2026-03-16', count: 3 },
    { value: '2026-03-17', count: 1 },
  ];
  const renews = [
    { value: '2026-03-16', count: 2 },
    { value: '2026-03-17', count: 1 },
  ];
  const chart = endingChart({ ...counts, all, parts: new Map([['renews', renews]]) });

  test('splits a day by what renews, and does not name one as several', () => {
    expect(chart.columns.slice(0, 3).map(({ text }) => text)).toEqual([
      '15 March 2026, from now on: none end',
      '16 March 2026: 3 end, 2 renew, 1 does not',
      '17 March 2026: 1 ends, 1 renews',
    ]);
    expect(chart.columns.at(-1)?.text).toBe('14 May 2026, up to 60 days from now: none end');
  });

  test('the first and the last day lead to their parts of the 60 days, the legend to all of them', () => {
    const list = '/console/subscriptions?';
    expect([chart.columns[0]?.href, chart.columns.at(-1)?.href]).toEqual([
      `${list}date-field=expiration&after=2026-03-15T12:00:00Z&before=2026-03-16T00:00:00Z`,
      `${list}date-field=expiration&after=2026-05-13T23:59:59Z&before=2026-05-14T12:00:01Z`,
    ]);
    expect(chart.series[0]?.href).toBe(`${list}expires-within=60d&auto-renew=true`);
  });
});

test('a series of the status none is not that of records without one', () => {
  const status = [
    { value: 'none', count: 2 },
    { value: null, count: 1 },
  ];
  const { series } = createdChart({
    totals: { total: 3, by: { status } },
    periods: lastMonths(now, 1),
    all: [{ value: '2026-03', count: 3 }],
    parts: new Map([['none', [{ value: '2026-03', count: 2 }]]]),
  });
  expect(series.map(({ href }) => /status=([^&]*)/.exec(href ?? '')?.[1])).toEqual(['%5Cnone', 'none']);
});
