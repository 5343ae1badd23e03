import { expect, test } from 'vitest';
import { createThrottledLog } from './throttled-log.ts';

test('a throttled line is written once per interval, with the number of calls since', () => {
  let now = 0;
  const written: number[] = [];
  const log = createThrottledLog(1_000, () => now);
  for (now of [0, 1, 999, 1_000, 1_001, 2_500]) log((calls) => written.push(calls));
  expect(written).toEqual([1, 3, 2]);
});
