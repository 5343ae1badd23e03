import type { GrantType } from '../contract/grant.ts';
import type { ClientRow } from '../storage/tables/client.ts';
import type { AuthContext } from './auth-context.ts';
import type { IssuedTokens } from './issue-token.ts';

/**
 * The form fields of a token request other than the client's credentials; an empty field counts as
 * absent (RFC 6749 §3.2).
 */
interface GrantParameters {
  readonly scope: string | undefined;
  readonly refreshToken: string | undefined;
}

/** A grant of the token endpoint; each has its own file. */
export interface Grant {
  readonly grantType: GrantType;
  /**
   * Returns the tokens for an authenticated client that may use this grant, or throws `TokenError`.
   */
  handle(context: AuthContext, client: ClientRow, parameters: GrantParameters): Promise<IssuedTokens>;
}
