import { afterEach, describe, expect, test } from 'vitest';
import { findZone } from '../../../contract/zone.ts';
import { filtersOfCount } from '../counts/count-links.ts';
import { presetOf, presetRange } from '../filters/presets.ts';
import { createdBounds, lastMonths, nextDays } from '../overview/periods.ts';
import { readAsOf } from '../past/read-as-of.ts';
import { dayAfter, dayFrom, daysUntil, dayUntil, endOfDay } from './day-bounds.ts';
import { readZoneFrom, zoneName } from './local-days.ts';

afterEach(() => readZoneFrom(() => undefined));

describe('days in Europe/Berlin', () => {
  const inBerlin = (): void => readZoneFrom(() => findZone('Europe/Berlin'));
  const now = new Date('2026-10-31T23:30:00Z'); // 1 November there

  test('begin at its midnight, also when the clocks change', () => {
    inBerlin();
    expect(zoneName()).toBe('Europe/Berlin');
    expect(endOfDay('2026-03-28')).toBe('2026-03-28T23:00:00Z');
    expect(endOfDay('2026-03-29')).toBe('2026-03-29T22:00:00Z'); // 23 hours
    expect(dayFrom('2026-03-29T22:00:00Z')).toBe('2026-03-30');
    expect(dayFrom('2026-03-30T00:00:00Z')).toBeUndefined();
    expect(dayUntil('2026-10-25T23:00:00Z')).toBe('2026-10-25'); // 25 hours
    expect(dayAfter('2026-10-24T21:59:59Z')).toBe('2026-10-25');
    expect(daysUntil('2026-11-01T23:30:00Z', now.getTime())).toBe(1);
  });

  test('presets, words and periods are those of its calendar', () => {
    inBerlin();
    const range = { from: '2026-09-30T22:00:00Z', to: '2026-10-31T23:00:00Z' };
    expect(presetRange('lastMonth', now)).toEqual(range);
    expect(presetOf({ filters: { 'created-from': range.from, 'created-to': range.to }, days: {} }, now)).toBe(
      'lastMonth',
    );
    expect(readAsOf('this-month', now)?.instant).toBe('2026-10-31T23:00:00Z');
    expect(lastMonths(now, 2)).toEqual(['2026-10', '2026-11']);
    expect(createdBounds(['2026-10'])).toEqual({ 'created-from': range.from, 'created-to': range.to });
    expect(nextDays(now, 2)).toEqual(['2026-11-01', '2026-11-02', '2026-11-03']);
    expect(filtersOfCount('month', '2026-10', {}, now)).toEqual({ 'created-from': range.from, 'created-to': range.to });
  });

  test('are those of UTC without a zone', () => {
    expect(zoneName()).toBe('UTC');
    expect(readAsOf('this-month', now)?.instant).toBe('2026-10-01T00:00:00Z');
    expect(lastMonths(now, 1)[0]).toBe('2026-10');
  });
});
