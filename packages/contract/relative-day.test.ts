import { expect, test } from 'vitest';
import { dayOf, dayWords } from './relative-day.ts';

test.each([
  ['today', '2026-11-26', '2026-11-26'],
  ['yesterday', '2026-03-01', '2026-02-28'],
  ['yesterday', '2024-03-01', '2024-02-29'],
  ['tomorrow', '2026-12-31', '2027-01-01'],
  ['last-month', '2026-03-31', '2026-02-01'],
  ['last-month', '2026-01-31', '2025-12-01'],
  ['next-month', '2026-12-31', '2027-01-01'],
  ['this-quarter', '2026-06-30', '2026-04-01'],
  ['last-quarter', '2026-02-01', '2025-10-01'],
  ['this-year', '2026-11-26', '2026-01-01'],
  ['2024-02-29', '2026-11-26', '2024-02-29'],
  ['0099-01-31', '2026-11-26', '0099-01-31'],
])('%s on %s is %s', (word, today, day) => {
  expect(dayOf(word, today)).toBe(day);
});

test.each(['', 'now', 'last-week', 'this-day', 'constructor', 'Today', '2026-02-30'])("'%s' is no day", (word) => {
  expect(dayOf(word, '2026-11-26')).toBeUndefined();
});

test('a day after the year 9999 is no day', () => {
  expect(dayOf('tomorrow', '9999-12-31')).toBeUndefined();
});

test('every word is a day', () => {
  for (const word of dayWords) expect(dayOf(word, '2026-11-26')).toMatch(/^\d{4}-\d\d-\d\d$/);
});
