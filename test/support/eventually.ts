import { vi } from 'vitest';

/**
 * Waits until an assertion holds, and fails with its last error. The limit only ends a test that
 * hangs.
 */
export const eventually = <T>(assertion: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(assertion, { timeout: 240_000, interval: 20 });
