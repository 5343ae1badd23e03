/**
 * Stores one value, for example in a file or a row of a database: a change token (`follow`), the
 * position in a report (`checkpoint`) or tokens (`tokenStore`). If it throws, the call rejects with
 * the error.
 */
export interface ValueStore<Value> {
  /** Returns the stored value, or `undefined` if there is none. */
  load(): Value | undefined | Promise<Value | undefined>;
  /** Stores a value; `undefined` removes it. */
  save(value: Value | undefined): unknown;
}
