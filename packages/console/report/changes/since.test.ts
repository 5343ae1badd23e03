import { expect, test } from 'vitest';
import { readSince } from './since.ts';

const now = new Date('2026-11-20T14:02:03.456Z');

test('a period ends now, and a day begins at midnight UTC', () => {
  expect(readSince('7d', now)).toEqual({ kind: 'days', days: 7, instant: '2026-11-13T14:02:03Z' });
  expect(readSince('2026-11-20', now)).toEqual({ kind: 'day', day: '2026-11-20', instant: '2026-11-20T00:00:00Z' });
});

test.each(['', '2d', 'constructor', '2026-11-21', '2026-02-30', '2026-1-1', '2026-11-20T00:00:00Z'])(
  '%j is the last visit',
  (text) => {
    expect(readSince(text, now)).toEqual({ kind: 'visit' });
  },
);
