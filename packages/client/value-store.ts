/**
 * Stores one value, for example in a file or a row of a database: a change token (`follow`) or
 * tokens (`tokenStore`). If it throws, the call rejects with the error.
 */
export interface ValueStore<Value> {
  /** Returns the stored value, or `undefined` if there is none. */
  load(): Value | undefined | Promise<Value | undefined>;
  /** Stores a value; `undefined` removes it. */
  save(value: Value | undefined): unknown;
}

/** Tokens that can be stored as JSON. Protect them: anyone who can read them can use them. */
export interface StoredTokens {
  /** The token endpoint, client and scope that the tokens belong to; other tokens are ignored. */
  readonly key: string;
  readonly accessToken: string;
  readonly scope: string | undefined;
  readonly refreshToken: string | undefined;
  /** Lifetime of the access token in milliseconds. */
  readonly lifetimeMs: number;
  /** When the tokens expire, in milliseconds since 1970. */
  readonly expiresAt: number;
  readonly refreshExpiresAt: number | undefined;
}
