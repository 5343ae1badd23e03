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
