import type { GrantType, TokenResponse } from '../contract/token.ts';
import type { ClientRow } from '../storage/tables/client.ts';
import type { AuthContext } from './auth-context.ts';

/**
 * The form fields of a token request that are left once the client is known; an empty one counts as
 * absent (RFC 6749 §3.2).
 */
interface GrantParameters {
  readonly scope: string | undefined;
  readonly refreshToken: string | undefined;
}

/** One grant of the token endpoint: a file each. */
export interface Grant {
  readonly grantType: GrantType;
  /**
   * Answers a token request of an authenticated client that may use this grant, or fails with
   * `TokenError`.
   */
  handle(context: AuthContext, client: ClientRow, parameters: GrantParameters): Promise<TokenResponse>;
}
