import { expect, test } from 'vitest';
import { describeEnd } from './describe-end.ts';

const now = Date.parse('2026-03-31T23:30:00Z');

test.each([
  ['2026-04-01T02:31:00Z', 'in 3 h'],
  ['2026-04-01T23:29:59Z', 'in 23 h'],
  ['2026-04-01T23:30:00Z', 'tomorrow'],
  ['2026-04-02T00:00:00Z', 'in 2 days'],
  ['2026-05-30T12:00:00Z', 'in 60 days'],
  ['2026-05-31T00:00:00Z', undefined],
  ['2026-03-31T23:50:59Z', 'in 20 min'],
  ['2026-03-31T23:30:00Z', '1 min ago'],
  ['2026-03-31T21:10:00Z', '2 h ago'],
  ['2026-03-30T23:30:00Z', undefined],
])('an end at %s is %s', (end, words) => {
  expect(describeEnd(end, now)).toBe(words);
});
