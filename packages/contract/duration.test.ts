import fc from 'fast-check';
import { expect, test } from 'vitest';
import { durationDaysMax, formatDuration, parseDuration } from './duration.ts';

test.each([
  ['12h', 43_200],
  ['7d', 604_800],
  ['2w', 1_209_600],
  ['P7D', 604_800],
  ['PT12H', 43_200],
  ['PT90M', 5_400],
  ['P1DT12H30M15S', 131_415],
  ['P0DT1H', 3_600],
  ['3660d', 316_224_000],
])('%s is %i seconds', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

test.each([
  '',
  '7',
  '7d ',
  '7D',
  '7m',
  '-7d',
  '1.5d',
  '0d',
  'P',
  'P7DT',
  'P1DT',
  'p7d',
  'P1M',
  'P1W2D',
  'PT0S',
  'P-7D',
  'PT1H1H',
  '3661d',
  'P3660DT1S',
  '9999999d',
  '٧d',
  '7d\n',
])('%j is no length of time', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test('what is written reads back (property)', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: durationDaysMax * 86_400 }), (seconds) => {
      expect(parseDuration(formatDuration(seconds))).toBe(seconds);
    }),
  );
});

test('days are the largest unit that is written', () => {
  expect(formatDuration(1_209_600)).toBe('P14D');
  expect(formatDuration(43_200)).toBe('PT12H');
});
