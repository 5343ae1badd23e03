import { setTimeout as sleep } from 'node:timers/promises';
import { waitMsMax } from './wait-limit.ts';

/**
 * Longest time for a program to start. That is work rather than waiting: it takes a second of CPU
 * time, and many programs may start at once on a machine that is many times slower than ours.
 */
export const startMsMax = 90_000;

/** Longest time for what has the lowest priority: it waits while others use all CPU time. */
export const idleMsMax = 600_000;

/** Waits until an assertion holds, or throws its last error. */
export async function eventually<T>(assertion: () => T | Promise<T>, msMax = waitMsMax): Promise<T> {
  for (const endsAt = performance.now() + msMax; ; await sleep(20)) {
    try {
      return await assertion();
    } catch (error) {
      if (performance.now() > endsAt) throw error;
    }
  }
}
