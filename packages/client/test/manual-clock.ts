import type { Clock } from '../clock.ts';

/** A clock that only moves when a test moves it, or when something sleeps. */
export interface ManualClock extends Clock {
  /** The times that were slept, in milliseconds. */
  readonly sleeps: number[];
  advance(ms: number): void;
}

export function createManualClock(startWallTime: number = Date.now()): ManualClock {
  let now = 1_000;
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => now,
    wallTime: () => startWallTime + now,
    async sleep(ms, signal) {
      sleeps.push(ms);
      await new Promise((resolve) => setImmediate(resolve)); // lets others run
      signal?.throwIfAborted();
      now += ms;
    },
    advance(ms) {
      now += ms;
    },
  };
}
