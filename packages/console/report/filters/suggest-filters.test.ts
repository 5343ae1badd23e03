import { describe, expect, test } from 'vitest';
import type { ReportFilters } from '../link/report-state.ts';
import { filters } from './filters.ts';
import { suggestFilters } from './suggest-filters.ts';

const { iccid, ...others } = filters;
const typedLabels = Object.values(others).flatMap(({ label, read }) => (read ? [label] : []));

const now = new Date('2026-11-22T10:20:00Z');
const labelsFor = (typed: string, used: ReportFilters = {}) =>
  suggestFilters(typed, used, now).map(({ label }) => label);
const appliedBy = (typed: string) =>
  suggestFilters(typed, {}, now).map((found) => ('apply' in found ? found.apply : {}));

describe('suggested filters', () => {
  test('without a text they are the filters that are not in use', () => {
    expect(labelsFor('')).toEqual([
      ...['Status', 'Product', 'Ends within', 'Created', 'Renewal'],
      ...[iccid.label, ...typedLabels],
      ...['Activated', 'Ends between'],
    ]);
    expect(labelsFor('', { status: 'ACTIVE' })).not.toContain('Status');
  });

  test.each([
    ['prod', 'Product'],
    ['depl', 'Status: Depleted'],
    ['no st', 'Status: No status'],
    ['7 days', 'Ends: within 7 days'],
    ['this month', 'Created: this month'],
  ])('%j finds "%s"', (typed, label) => {
    expect(labelsFor(typed)).toContain(label);
  });

  test('15 digits that begin as no ICCID can also be a device', () => {
    expect(appliedBy('356938035643809')).toEqual(
      expect.arrayContaining([{ iccid: '356938035643809' }, { 'device-id': '356938035643809' }]),
    );
  });

  test('an address is a subscriber', () => {
    expect(appliedBy('ada@example.com')).toEqual([{ email: 'ada@example.com' }]);
  });

  test('any other text can be a subscriber, a device, a plan and so on', () => {
    expect(labelsFor('xyz-417')).toEqual(typedLabels.map((label) => `${label} is xyz-417`));
    expect(labelsFor('xyz-417')).toContain('Device is xyz-417');
  });

  test('one date has one pair of bounds, which the service requires', () => {
    const inUse = labelsFor('', { 'date-field': 'activation', after: '2026-03-01T00:00:00Z' });
    expect(inUse).not.toContain('Activated');
    expect(inUse).not.toContain('Ends between');
    expect(labelsFor('', { 'expires-within': '7d' })).not.toContain('Ends between');
    expect(labelsFor('7 days', { 'date-field': 'expiration' })).not.toContain('Ends: within 7 days');
  });
});
