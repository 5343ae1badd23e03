import { expect, test } from 'vitest';
import { zoneOfDates } from './local-dates.ts';

test('dates that a command writes itself are never in UTC because this machine does not know their zone', () => {
  expect(zoneOfDates({ dates: 'local', zone: 'Europe/Berlin' }, 'xlsx')?.name).toBe('Europe/Berlin');
  expect(zoneOfDates({ dates: 'utc', zone: 'Europe/Nowhere' }, 'xlsx')).toBeUndefined();
  expect(() => zoneOfDates({ dates: 'local', zone: 'Europe/Nowhere' }, 'xlsx')).toThrow(
    /^Cannot use --zone: it must be the name of an IANA time zone, .*: current value is 'Europe\/Nowhere'$/,
  );
});
