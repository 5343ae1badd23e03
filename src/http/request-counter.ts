/** Requests of a key in the window that is open, and milliseconds until it closes. */
export interface RequestCount {
  readonly current: number;
  readonly ttl: number;
}

/** Counts requests by key. */
export interface RequestCounter {
  /** Counts one more and says how many there are. */
  count(key: string): RequestCount | Promise<RequestCount>;
}

/** Keys that are remembered at once; the oldest go first. They are ids of clients that were authorized, so there are no more than clients. */
const keysMax = 10_000;

/** Makes a counter over windows of so many milliseconds, each begun by the first request after the last one closed. */
export function createRequestCounter(windowMs: number, nowMs: () => number = Date.now): RequestCounter {
  const windows = new Map<string, { current: number; endsAt: number }>();
  return {
    count(key) {
      const now = nowMs();
      const open = windows.get(key);
      if (open !== undefined && open.endsAt > now) {
        open.current += 1;
        return { current: open.current, ttl: open.endsAt - now };
      }
      windows.delete(key);
      if (windows.size >= keysMax) windows.delete(windows.keys().next().value ?? '');
      windows.set(key, { current: 1, endsAt: now + windowMs });
      return { current: 1, ttl: windowMs };
    },
  };
}
