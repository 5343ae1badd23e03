import { BoundedMap, type BoundedMapOptions } from './bounded-map.ts';
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
