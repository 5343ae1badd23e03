import { expect, test } from 'vitest';
import { instantOf } from './instant-of.ts';

test.each([
  ['2026-05-01', '2026-05-01T00:00:00Z'],
  ['2026-05-01 08:15', '2026-05-01T08:15:00Z'],
  ['2026-05-01T08:15:30Z', '2026-05-01T08:15:30Z'],
  ['yesterday', 'yesterday'],
  [undefined, undefined],
])('%s is the instant %s', (text, instant) => {
  expect(instantOf(text)).toBe(instant);
});
