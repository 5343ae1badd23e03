import { expect, test } from 'vitest';
import { createWindowCounter } from './window-counter.ts';

test('a window opens at its first count, closes after its length, and states the time left', () => {
  let now = 0;
  const counter = createWindowCounter(60_000, () => now);
  expect(counter.read('a')).toEqual({ count: 0, msLeft: 0 });
  expect(counter.add('a')).toEqual({ count: 1, msLeft: 60_000 });
  now = 59_999;
  expect(counter.add('a')).toEqual({ count: 2, msLeft: 1 });
  expect(counter.read('a')).toEqual({ count: 2, msLeft: 1 });
  expect(counter.add('b')).toEqual({ count: 1, msLeft: 60_000 });
  now = 60_000;
  expect(counter.read('a')).toEqual({ count: 0, msLeft: 0 });
  expect(counter.add('a')).toEqual({ count: 1, msLeft: 60_000 });
});
