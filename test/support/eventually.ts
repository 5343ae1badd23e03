import { setTimeout as sleep } from 'node:timers/promises';

/** As long as `expect.poll` waits. */
const msMax = 20_000;

/** Waits until an assertion holds, or throws its last error. */
export async function eventually<T>(assertion: () => T | Promise<T>): Promise<T> {
  for (const endsAt = performance.now() + msMax; ; await sleep(20)) {
    try {
      return await assertion();
    } catch (error) {
      if (performance.now() > endsAt) throw error;
    }
  }
}
