import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatInstant } from '../../contract/instant.ts';
import { formatInstantIn } from '../../contract/local-text.ts';
import { endOfUnit, offsetsBetween, parseInstantIn } from '../../contract/local-time.ts';
import { findZone, type Zone } from '../../contract/zone.ts';
import { calendarOf, daySeconds, formatBucket, units } from './calendar.ts';

const second = (text: string): number => Date.parse(text) / 1000;
/** Seconds of the years 1 to 9998, so that the following bucket is one too. */
const seconds = fc.integer({ min: second('0001-01-01T00:00:00Z'), max: second('9998-12-31T23:59:59Z') });

test.each([
  ['day', '2024-02-29T23:59:59Z', '2024-02-29', '2024-03-01'],
  ['month', '2024-02-29T23:59:59Z', '2024-02', '2024-03'],
  ['month', '2024-12-31T00:00:00Z', '2024-12', '2025-01'],
  ['day', '1969-12-31T23:59:59Z', '1969-12-31', '1970-01-01'],
  ['month', '0001-01-15T00:00:00Z', '0001-01', '0001-02'],
  ['month', '0099-12-15T00:00:00Z', '0099-12', '0100-01'],
] as const)('the %s of %s is %s, followed by %s', (unit, text, own, following) => {
  const start = units[unit].startOf(second(text));
  expect(formatBucket(unit, start)).toBe(own);
  expect(formatBucket(unit, units[unit].next(start))).toBe(following);
});

describe.each(['day', 'month'] as const)('every second lies in its %s', (unit) => {
  test('from its start, inclusive, to the start of the following one, exclusive (property)', () => {
    fc.assert(
      fc.property(seconds, (each) => {
        const start = units[unit].startOf(each);
        const end = units[unit].next(start);
        expect(start <= each && each < end).toBe(true);
        expect([units[unit].startOf(start), units[unit].startOf(end - 1)]).toEqual([start, start]);
        expect(units[unit].startOf(end)).toBe(end);
      }),
    );
  });
});

test.each(['day', 'month'] as const)(
  'the last local second of 9999, and all later ones, are in its last %s',
  (unit) => {
    const end = second('9999-12-31T23:59:59Z');
    const { startOf } = calendarOf(unit, 'Asia/Tokyo', { from: 0, until: end }); // 9 hours ahead
    const last = units[unit].startOf(end);
    expect([end - 9 * 3_600, end - 9 * 3_600 + 1, end].map(startOf)).toEqual([last, last, last]);
  },
);

/** Years of local mean time, of wars, and of today. */
const years = [1880, 1901, 1911, 1919, 1940, 1945, 1950, 1969, 1986, 1994, 2011, 2024, 2037];

const changesIn = (zone: Zone, year: number): number[] =>
  offsetsBetween(zone, second(`${year}-01-01T00:00:00Z`), second(`${year}-12-31T23:59:59Z`))
    .map(({ until }) => until)
    .filter(Number.isFinite);

/** Faults of what is known around a change of offset, at it and a second beside it. */
function faultsAround(zone: Zone, at: number): string[] {
  const faults: string[] = [];
  const localOf = (seconds: number) => seconds + zone.offsetAt(seconds);
  const dayOf = (seconds: number) => units.day.startOf(localOf(seconds));
  const note = (isRight: boolean, what: string) => isRight || faults.push(`${zone.name} ${formatInstant(at)} ${what}`);
  const [before, after] = [localOf(at - 1) + 1, localOf(at)];
  for (const local of [before, after, units.day.next(units.day.startOf(before))].flatMap((each) => [
    each - 1,
    each,
    each + 1,
  ])) {
    const text = formatInstant(local).slice(0, -1);
    const { seconds = 0, nanos = 0 } = parseInstantIn(`${text}.000000001`, zone) ?? {};
    note(localOf(seconds) >= local, `${text} is not before it`);
    for (const earlier of [seconds - 1, at - 1, at])
      note(earlier >= seconds || localOf(earlier) < local, `${text} is first`);
    note(nanos === (localOf(seconds) === local ? 1 : 0), `the fraction of ${text}`);
  }
  for (const seconds of [at - daySeconds, at - 3_600, at - 1, at, at + 1, at + 3_600]) {
    const end = endOfUnit(zone, units.day, seconds);
    note(end > seconds && dayOf(end) !== dayOf(end - 1), `the end of the day of ${seconds - at}`);
    for (const within of [seconds, at - 1, at, end - 1])
      note(within < seconds || within >= end || dayOf(within) === dayOf(seconds), `the day of ${seconds - at}`);
    const written = /([+-])(\d\d):(\d\d)$/.exec(formatInstantIn(zone, seconds));
    const offset = (Number(written?.[2]) * 60 + Number(written?.[3])) * (written?.[1] === '-' ? -60 : 60);
    note(Math.abs(offset - zone.offsetAt(seconds)) <= 30, `the offset at ${seconds - at}`);
  }
  return faults;
}

test('beside each change of offset of all zones, days, local times and their fractions are right', () => {
  const zones = Intl.supportedValuesOf('timeZone').map((name) => findZone(name) as Zone);
  const found = zones.map((zone) => [zone, years.flatMap((year) => changesIn(zone, year))] as const);
  expect(found.flatMap(([, changes]) => changes).length).toBeGreaterThan(2_000);
  expect(found.flatMap(([zone, changes]) => changes.flatMap((at) => faultsAround(zone, at)))).toEqual([]);
});
