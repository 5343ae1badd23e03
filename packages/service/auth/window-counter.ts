import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** The count of a key in its open window, and the milliseconds until the window closes. */
export interface WindowCount {
  readonly count: number;
  readonly msLeft: number;
}

/** Counts per key in fixed windows. A count after the end of a window opens the next one. */
export interface WindowCounter {
  /** Adds one, or `by`. */
  add(key: string, by?: number): WindowCount;
  read(key: string): WindowCount;
}

/** Maximum windows that are kept; the least recently used one makes room for a new one. */
export const windowsMax = 10_000;

/** Longer keys are stored as their SHA-256, so that a key never takes much memory. */
const keyLengthMax = 64;
const stored = (key: string): string => (key.length <= keyLengthMax ? key : hash('sha256', key, 'base64url'));

/** Creates a counter with windows of `windowMs` on the monotonic clock. */
export function createWindowCounter(windowMs: number, nowMs = () => performance.now()): WindowCounter {
  const windows = new LRUCache<string, { count: number; readonly endsAtMs: number }>({ max: windowsMax });
  const openWindow = (key: string) => {
    const known = windows.get(stored(key));
    return known !== undefined && known.endsAtMs > nowMs() ? known : undefined;
  };
  return {
    add(key, by = 1) {
      const open = openWindow(key);
      if (open === undefined) {
        windows.set(stored(key), { count: by, endsAtMs: nowMs() + windowMs });
        return { count: by, msLeft: windowMs };
      }
      open.count += by;
      return { count: open.count, msLeft: open.endsAtMs - nowMs() };
    },
    read(key) {
      const open = openWindow(key);
      return open === undefined ? { count: 0, msLeft: 0 } : { count: open.count, msLeft: open.endsAtMs - nowMs() };
    },
  };
}
