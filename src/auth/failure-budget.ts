/** So many failed attempts a minute for each client and address; who guesses elsewhere does not lock the client out (RFC 6749 §2.3.1). */
export interface FailureBudget {
  /** Seconds to wait when the budget of a key is used up, 0 otherwise. */
  secondsToWait(key: string): number | Promise<number>;
  /** Counts a failed attempt. */
  count(key: string): void | Promise<void>;
}

const windowSeconds = 60;
/** Keys that are remembered at once; the oldest go first, so that made-up client ids cannot fill the memory. */
const keysMax = 10_000;

/** Makes a budget over fixed windows of a minute; `perMinute` 0 is no limit. */
export function createFailureBudget(perMinute: number, now: () => number): FailureBudget {
  const failures = new Map<string, { count: number; endsAt: number }>();
  const current = (key: string) => {
    const found = failures.get(key);
    return found !== undefined && found.endsAt > now() ? found : undefined;
  };
  return {
    secondsToWait(key) {
      const found = current(key);
      return perMinute > 0 && found !== undefined && found.count >= perMinute ? found.endsAt - now() : 0;
    },
    count(key) {
      const found = current(key) ?? { count: 0, endsAt: now() + windowSeconds };
      found.count += 1;
      failures.delete(key);
      if (failures.size >= keysMax) failures.delete(failures.keys().next().value ?? '');
      failures.set(key, found);
    },
  };
}
