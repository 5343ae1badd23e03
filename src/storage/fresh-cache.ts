import type { Store } from './store.ts';

/**
 * Keeps what was read from the store for as long as the store is known not to have changed since; when that is not known, reads anew each time. So a change
 * by any process counts as soon as this one can know of it, and nothing is asked twice without need.
 */
export function createFreshCache<T>(store: Store, read: (key: string) => Promise<T>, keysMax = 10_000) {
  const kept = new Map<string, Promise<T>>();
  let keptMark: number | undefined;
  return (key: string): Promise<T> => {
    const mark = store.changeMark();
    if (mark === undefined || mark !== keptMark || kept.size >= keysMax) kept.clear();
    keptMark = mark;
    const known = mark === undefined ? undefined : kept.get(key);
    if (known !== undefined) return known;
    const reading = read(key);
    kept.set(key, reading);
    reading.catch(() => {
      if (kept.get(key) === reading) kept.delete(key); // a failed reading says nothing of the next one
    });
    return reading;
  };
}
