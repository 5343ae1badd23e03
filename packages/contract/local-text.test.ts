import fc from 'fast-check';
import { expect, test } from 'vitest';
import { localDateTime } from '../../test/support/zoned.ts';
import { formatInstant, parseInstant } from './instant.ts';
import { formatInstantIn } from './local-text.ts';
import { findZone, type Zone } from './zone.ts';

const zoneOf = (name: string): Zone => findZone(name) ?? expect.fail(`no zone ${name}`);

test('each zone, and another name of one, has its offset by its name in any letter case', () => {
  for (const name of [...Intl.supportedValuesOf('timeZone'), 'US/Pacific', 'Zulu', 'Etc/GMT+1']) {
    const offsets = [name, name.toLowerCase(), name.toUpperCase()].map((each) => zoneOf(each).offsetAt(1_720_000_000));
    expect([name, ...new Set(offsets)]).toEqual([name, offsets[0]]);
  }
});

test('an instant in a zone is the local time and the offset of Temporal (property)', () => {
  const names = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
  const year2100 = 4_102_444_800;
  fc.assert(
    // offsets have whole minutes since 1972
    fc.property(names, fc.integer({ min: 63_072_000 + 7 * 86_400, max: year2100 }), (name, seconds) => {
      expect(formatInstantIn(zoneOf(name), seconds)).toBe(localDateTime(formatInstant(seconds), name));
    }),
    { numRuns: 2_000 },
  );
});

test('an instant in a zone is read as itself, whatever its year (property)', () => {
  const names = fc.constantFrom('Africa/Monrovia', 'Europe/Amsterdam', 'America/New_York', 'Asia/Tokyo', 'Asia/Manila');
  const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });
  fc.assert(
    fc.property(names, seconds, (name, at) => {
      expect(parseInstant(formatInstantIn(zoneOf(name), at))).toEqual({ seconds: at, nanos: 0 });
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['America/St_Johns', '2024-01-01T00:00:00Z', '2023-12-31T20:30:00-03:30'],
  ['Africa/Monrovia', '1972-01-01T00:00:00Z', '1971-12-31T23:16:00-00:44'],
  ['Asia/Tokyo', '9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
  ['America/New_York', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
])('in %s, %s is %s', (name, text, expected) => {
  expect(formatInstantIn(zoneOf(name), Date.parse(text) / 1000)).toBe(expected);
});
