import { BoundedMap, type BoundedMapOptions, estimateBytes } from './bounded-map.ts';
import type { Store } from './store.ts';

/**
 * A `BoundedMap` of values that depend on the store. It is emptied as soon as the store may have
 * changed, in this process or another.
 */
export class FreshMap<V> extends BoundedMap<V> {
  readonly #store: Pick<Store, 'changeMark'>;
  #changeMark: number | undefined;

  constructor(store: Pick<Store, 'changeMark'>, options: BoundedMapOptions<V>) {
    super(options);
    this.#store = store;
  }

  /**
   * Empties the map if the store may have changed, and returns the store's change mark; `undefined`
   * if it is not known, so that nothing may be cached. Call it before each lookup, and before
   * reading what is cached.
   */
  refresh(): number | undefined {
    const changeMark = this.#store.changeMark();
    if (changeMark === undefined || changeMark !== this.#changeMark) this.clear();
    this.#changeMark = changeMark;
    return changeMark;
  }

  /**
   * Whether the map still belongs to a change mark. A value that was read under an earlier one may
   * be outdated.
   */
  isAt(changeMark: number | undefined): boolean {
    return changeMark !== undefined && changeMark === this.#changeMark;
  }
}

/** A pending read (0 bytes), or its result. */
interface Read<T> {
  readonly value: Promise<T>;
  readonly bytes: number;
}

/**
 * Makes a cached version of `read`, a function that reads the store. Results are cached until the
 * store may have changed, so a change made by any process is visible as soon as this one is
 * notified. Concurrent reads of one key share a query. A result larger than `bytesMax` is not
 * cached.
 */
export function createFreshCache<T>(store: Store, read: (key: string) => Promise<T>, bytesMax = 8_388_608) {
  const cached = new FreshMap<Read<T>>(store, {
    name: 'directory',
    entriesMax: 10_000,
    bytesMax,
    bytesOf: ({ bytes }) => bytes,
  });
  return (key: string): Promise<T> => {
    const known = cached.refresh() === undefined ? undefined : cached.get(key);
    if (known !== undefined) return known.value;
    const value = read(key);
    const settle = (bytes: number | undefined): void => {
      if (cached.get(key)?.value !== value) return; // the store changed, or the entry was evicted
      if (bytes === undefined)
        cached.delete(key); // a failed read must not be repeated from the cache
      else cached.set(key, { value, bytes });
    };
    cached.set(key, { value, bytes: 0 });
    value.then(
      (result) => settle(estimateBytes(result)),
      () => settle(undefined),
    );
    return value;
  };
}
