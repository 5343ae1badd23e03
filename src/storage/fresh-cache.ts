import { BoundedMap } from './bounded-map.ts';
import { estimateBytes } from './estimate-bytes.ts';
import type { Store } from './store.ts';

/** A reading that is under way (0 bytes), or what it gave. */
interface Reading<T> {
  readonly value: Promise<T>;
  readonly bytes: number;
}

/**
 * Keeps what was read from the store for as long as the store is known not to have changed since;
 * when that is not known, reads anew each time. So a change by any process counts as soon as this
 * one can know of it, and nothing is asked twice without need. A value larger than all the room
 * there is is read anew each time too.
 */
export function createFreshCache<T>(store: Store, read: (key: string) => Promise<T>, bytesMax = 8_388_608) {
  const kept = new BoundedMap<Reading<T>>({ entriesMax: 10_000, bytesMax, bytesOf: ({ bytes }) => bytes });
  let keptMark: number | undefined;
  return (key: string): Promise<T> => {
    const mark = store.changeMark();
    if (mark === undefined || mark !== keptMark) kept.clear();
    keptMark = mark;
    const known = mark === undefined ? undefined : kept.get(key);
    if (known !== undefined) return known.value;
    const value = read(key);
    const settle = (bytes: number | undefined): void => {
      if (kept.get(key)?.value !== value) return; // the store has changed, or there was no room
      if (bytes === undefined)
        kept.delete(key); // a failed reading says nothing of the next one
      else kept.set(key, { value, bytes });
    };
    kept.set(key, { value, bytes: 0 });
    value.then(
      (read) => settle(estimateBytes(read)),
      () => settle(undefined),
    );
    return value;
  };
}
