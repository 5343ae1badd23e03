/**
 * Keeps one value outside the client, such as in a file or a row of a database: a change token
 * (`follow`), the position of a walk (`checkpoint`) or tokens (`tokenStore`). Errors that it throws
 * reject the call.
 */
export interface ValueStore<Value> {
  /** Returns the stored value, or `undefined` if there is none. */
  load(): Value | undefined | Promise<Value | undefined>;
  /** Stores a value; `undefined` removes it. */
  save(value: Value | undefined): unknown;
}
