import { expect, test } from 'vitest';
import { readDate } from './filter-options.ts';

const now = Date.parse('2026-05-10T12:30:00Z') / 1000;

test.each([
  ['7d', '2026-05-03T12:30:00Z'],
  ['-30d', '2026-04-10T12:30:00Z'],
  ['+12h', '2026-05-11T00:30:00Z'],
  ['P1DT1H', '2026-05-09T11:30:00Z'],
  ['now', '2026-05-10T12:30:00Z'],
  ['today', '2026-05-10T00:00:00Z'],
  ['yesterday', '2026-05-09T00:00:00Z'],
  ['tomorrow', '2026-05-11T00:00:00Z'],
  ['2024-05-01', '2024-05-01T00:00:00Z'],
  ['2024-05-01T02:00:00.5+02:00', '2024-05-01T02:00:00.5+02:00'],
])('the date %s is sent as %s', (text, instant) => {
  expect(readDate(text, now)).toBe(instant);
});

test.each(['', '7', '7m', '--7d', '+', '0d', '2024-02-30', '1 May', 'Today', 'constructor'])(
  "'%s' is not a date",
  (text) => {
    expect(readDate(text, now)).toBeUndefined();
  },
);
