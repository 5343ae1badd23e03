import { hash } from 'node:crypto';
import { BoundedMap } from '../storage/bounded-map.ts';

/** The count of a key in its open window, and the milliseconds until the window closes. */
export interface WindowCount {
  readonly count: number;
  readonly msLeft: number;
}

/** Counts per key in fixed windows. A count after the end of a window opens the next one. */
export interface WindowCounter {
  /** Adds one. */
  add(key: string): WindowCount;
  /** Returns the count. */
  read(key: string): WindowCount;
}

const bounds = { entriesMax: 10_000, bytesMax: 4_194_304 };

/**
 * Creates a counter with windows of `windowMs` on the monotonic clock. Keys are stored as their
 * SHA-256.
 */
export function createWindowCounter(windowMs: number, nowMs = () => performance.now()): WindowCounter {
  const windows = new BoundedMap<{ count: number; readonly endsAtMs: number }>({
    name: 'request_windows',
    ...bounds,
    nowMs,
  });
  return {
    add(key) {
      const digest = hash('sha256', key, 'base64url');
      const open = windows.get(digest);
      if (open === undefined) {
        windows.set(digest, { count: 1, endsAtMs: nowMs() + windowMs }, windowMs);
        return { count: 1, msLeft: windowMs };
      }
      open.count += 1;
      return { count: open.count, msLeft: open.endsAtMs - nowMs() };
    },
    read(key) {
      const open = windows.get(hash('sha256', key, 'base64url'));
      return open === undefined ? { count: 0, msLeft: 0 } : { count: open.count, msLeft: open.endsAtMs - nowMs() };
    },
  };
}
