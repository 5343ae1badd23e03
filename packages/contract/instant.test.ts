import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareInstants, formatInstant, parseInstant } from './instant.ts';

const seconds = (text: string) => parseInstant(text)?.seconds;

describe('parseInstant', () => {
  test.each([
    ['2024-05-01T00:00:00Z', 1_714_521_600, 0],
    ['2024-05-01T00:00:00.002Z', 1_714_521_600, 2_000_000],
    ['2024-05-01T00:00:00.123456789Z', 1_714_521_600, 123_456_789],
    ['2024-05-01T02:00:00+02:00', 1_714_521_600, 0],
    ['2024-05-01T02:00:00+0200', 1_714_521_600, 0],
    ['2024-05-01T02:00:00 02:00', 1_714_521_600, 0], // a + that arrived as a blank
    ['2024-05-01T02:00:00 0200', 1_714_521_600, 0],
    ['2024-05-01T02:00:00+02', 1_714_521_600, 0],
    ['2024-05-01 00:00:00+00', 1_714_521_600, 0], // as COPY of PostgreSQL writes it
    ['2024-05-01 00:00:00.5+00:00', 1_714_521_600, 500_000_000],
    ['2024-05-01 00:00:00 00', 1_714_521_600, 0],
    ['2024-05-01 00:00:00Z', 1_714_521_600, 0], // RFC 3339 section 5.6, as the next one
    ['2024-05-01t00:00:00z', 1_714_521_600, 0],
    ['2024-04-30T18:30:00-05:30', 1_714_521_600, 0],
    ['2024-05-01T00:00:00+0000', 1_714_521_600, 0],
    ['2024-05-01 00:00:00 UTC', 1_714_521_600, 0], // BigQuery
    ['2024-05-01 00:00:00.0000000 +00:00', 1_714_521_600, 0], // SQL Server
    ['2024-05-01 00:00:00.5 +0000', 1_714_521_600, 500_000_000], // Snowflake
    ['2024-05-01 02:00:00  02:00', 1_714_521_600, 0], // its + as a blank
    ['2024-05-01 00:00:00 Z', 1_714_521_600, 0],
    ['2024-05-01T00:00Z[UTC]', 1_714_521_600, 0], // Java, which leaves out seconds of 0
    ['2024-05-01T02:00+02:00', 1_714_521_600, 0],
    ['2024-05-01T00:00:00-00:00', 1_714_521_600, 0],
    ['2024-02-29T00:00:00Z', 1_709_164_800, 0],
    ['2016-12-31T23:59:60Z', 1_483_228_800, 0], // a leap second
    ['2017-01-01T00:59:60+01:00', 1_483_228_800, 0],
    ['0001-01-01T00:00:00Z', -62_135_596_800, 0],
    ['9999-12-31T23:59:59.999Z', 253_402_300_799, 999_000_000],
  ])('reads %s', (text, wholeSeconds, nanos) => {
    expect(parseInstant(text)).toEqual({ seconds: wholeSeconds, nanos });
  });

  test.each([
    '',
    '2024-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2024-04-31T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-00-01T00:00:00Z',
    '2024-01-00T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:60:00Z',
    '2024-01-01T12:00:60Z',
    '2016-12-30T23:59:60Z',
    '2016-07-31T23:59:60Z',
    '2024-01-01T00:00:61Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '10000-01-01T00:00:00Z',
    '+10000-01-01T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    '2024-01-01',
    '2024-01-01T00:00',
    '2024-01-01T00:00.5Z',
    '2024-01-01T00Z',
    '2024-01-01T00:00:00',
    '2024-01-01 00:00:00',
    '2024-01-01  00:00:00Z',
    '2024-01-01_00:00:00Z',
    '2024-01-01T00:00:00.Z',
    '2024-01-01T00:00:00,5Z',
    '2024-01-01T00:00:00.1234567890Z',
    '2024-01-01T00:00:00+25:00',
    '2024-01-01T00:00:00+01:60',
    '2024-01-01T00:00:00+1',
    '2024-01-01 00:00:00 Europe/Berlin',
    '2024-01-01T00:00:00+01:00[Europe/Berlin]',
    '2024-01-01T00:00:00+01:00[UTC]',
    '2024-01-01 00:00:00 CET',
    '2024-01-01 00:00:00 UTC+1',
    '2024-01-01 00:00:00  UTC',
    '2024-W01-1T00:00:00Z',
    '1714521600',
    '２０２４-01-01T00:00:00Z',
    '2024-01-01T00:00:00Z\0',
    ' 2024-01-01T00:00:00Z',
    '2024-01-01T00:00:00Z\n',
  ])('refuses %j', (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  test.each([3, 9])('refuses a leap second at the end of month %i, which has never had one', (month) => {
    const day = month === 3 ? 31 : 30;
    expect(parseInstant(`2016-0${month}-${day}T23:59:60Z`)).toBeUndefined();
    expect(parseInstant('2016-12-31T23:59:60Z')?.seconds).toBe(seconds('2017-01-01T00:00:00Z'));
  });

  test('never throws, whatever the text (property)', () => {
    const dateLike = fc.stringMatching(
      /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{0,10})?([Zz]|[+ -]\d{2}(:?\d{2})?)?$/,
    );
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), dateLike), (text) => {
        const instant = parseInstant(text);
        if (instant !== undefined) expect(Number.isSafeInteger(instant.seconds)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('what is written reads back as the same second (property)', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }), (second) => {
        expect(formatInstant(second)).toBe(new Date(second * 1000).toISOString().replace('.000', ''));
        expect(seconds(formatInstant(second))).toBe(second);
      }),
    );
  });

  test('formatInstant throws outside the years 0 to 9999', () => {
    for (const second of [Number.NaN, Number.POSITIVE_INFINITY, 1e15, 253_402_300_800, -62_167_219_201])
      expect(() => formatInstant(second)).toThrow(RangeError);
    expect(formatInstant(-62_167_219_200)).toBe('0000-01-01T00:00:00Z');
  });

  test('an offset only moves the clock (property)', () => {
    const two = (n: number) => String(n).padStart(2, '0');
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4_000_000_000 }),
        fc.nat({ max: 23 }),
        fc.nat({ max: 59 }),
        fc.constantFrom('+', '-', ' '),
        (second, hours, minutes, sign) => {
          const local = second + (hours * 3600 + minutes * 60) * (sign === '-' ? -1 : 1);
          expect(seconds(`${formatInstant(local).slice(0, -1)}${sign}${two(hours)}:${two(minutes)}`)).toBe(second);
        },
      ),
    );
  });
});

test('compareInstants orders by nanoseconds', () => {
  const [a, b] = ['2024-05-01T00:00:00.001Z', '2024-05-01T00:00:00.002Z'].map((text) => parseInstant(text));
  if (a === undefined || b === undefined) throw new Error('unreadable');
  expect([compareInstants(a, b) < 0, compareInstants(b, a) > 0, compareInstants(a, a)]).toEqual([true, true, 0]);
});
