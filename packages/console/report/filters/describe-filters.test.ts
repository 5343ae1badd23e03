import { describe, expect, test } from 'vitest';
import { parseReportState, type ReportFilters, wholeReport } from '../link/report-state.ts';

import { describeFilters, describeReport } from './describe-filters.ts';
import { presetRange } from './presets.ts';

const now = new Date('2026-11-22T10:20:00Z');
const context = { now, productName: (id: string) => (id === 'p1' ? 'Europe 5 GB, 30 days' : id) };
const sentence = (filters: ReportFilters, count = 1284) => describeReport({ ...wholeReport, filters }, count, context);

describe('the sentence above the table', () => {
  test('it has the number, the order and every filter', () => {
    const { from, to } = presetRange('last12Months', now);
    expect(sentence({ status: 'ACTIVE,DEPLETED', 'created-from': from, 'created-to': to })).toBe(
      '1,284 subscriptions, newest first, status Active or Depleted, created in the last 12 months',
    );
  });

  test('it has no number that is not known', () => {
    const state = { ...wholeReport, filters: { status: 'ACTIVE' } };
    expect(describeReport(state, undefined, context)).toBe('newest first, status Active');
  });

  test('one subscription is singular', () => {
    expect(sentence({}, 1)).toBe('1 subscription, newest first');
  });

  test.each<[ReportFilters, string]>([
    [{ 'product-id': 'p1' }, 'product Europe 5 GB, 30 days'],
    [{ 'product-id': 'p2' }, 'product p2'],
    [{ status: 'ON_HOLD' }, 'status ON_HOLD'],
    [{ status: 'ACTIVE,none' }, 'status Active or none'],
    [{ status: '\\none,\\\\none' }, 'status none or \\none'],
    [{ 'expires-within': '7d' }, 'ending within 7 days'],
    [{ 'expires-within': 'PT12H' }, 'ending within 12 hours'],
    [{ 'expires-within': 'PT90S' }, 'ending within PT1M30S'],
    [{ 'auto-renew': 'false' }, 'that do not renew'],
    [{ iccid: '8944500102198304826' }, 'ICCID 8944 5001 0219 8304 826'],
    [{ email: 'ada@example.com' }, 'subscriber ada@example.com'],
    [{ id: 's-1' }, 'subscription s-1'],
    [
      { 'created-from': '2026-03-01T00:00:00Z', 'created-to': '2026-04-01T00:00:00Z' },
      'created 1 Mar 2026 to 31 Mar 2026',
    ],
    [{ 'created-from': '2026-03-01T00:00:00Z', 'created-to': '2026-03-02T00:00:00Z' }, 'created on 1 Mar 2026'],
    [{ 'created-from': '2026-03-01T00:00:00Z' }, 'created since 1 Mar 2026'],
    [{ 'created-from': '2026-06-30T23:59:60Z' }, 'created since 1 Jul 2026'],
    [{ 'created-from': '2026-03-01T02:00:00+0200' }, 'created since 1 Mar 2026'],
    [{ 'created-to': '2026-03-01T10:30:00.5+0200' }, 'created before 2026-03-01 08:30:00 UTC'],
    [{ 'created-to': '2026-03-01T08:30:00Z' }, 'created before 2026-03-01 08:30:00 UTC'],
    [
      { 'date-field': 'activation', after: '2026-02-28T23:59:59Z', before: '2026-04-01T00:00:00Z' },
      'activated 1 Mar 2026 to 31 Mar 2026',
    ],
    [{ 'date-field': 'expiration', after: '2026-02-28T23:59:58Z' }, 'ending after 2026-02-28 23:59:58 UTC'],
    [{ after: '2026-02-28T23:59:59Z' }, 'created since 1 Mar 2026'],
  ])('%j reads "%s"', (filters, phrase) => {
    expect(sentence(filters)).toBe(`1,284 subscriptions, newest first, ${phrase}`);
  });

  test('relative days that match no preset are described once, by their dates', () => {
    const filters = { 'created-from': '2026-10-01T00:00:00Z', 'created-to': '2026-11-23T00:00:00Z' };
    const state = { ...wholeReport, filters, days: { 'created-from': 'last-month', 'created-to': 'tomorrow' } };
    expect(describeReport(state, undefined, context)).toBe('newest first, created 1 Oct 2026 to 22 Nov 2026');
  });

  test('a subscriber whose address is not in the link still has a chip', () => {
    const parsed = parseReportState('email=hidden');
    if ('faults' in parsed) throw new Error('faults');
    expect(describeFilters(parsed.state, context)).toMatchObject([{ kind: 'subscriber', value: 'not in the link' }]);
  });
});
