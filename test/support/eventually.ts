import { vi } from 'vitest';

/** Waits until an assertion holds, or throws its last error. The time limit only catches hangs. */
export const eventually = <T>(assertion: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(assertion, { timeout: 240_000, interval: 20 });
