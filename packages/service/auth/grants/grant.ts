import { type GrantType, identityScopes } from '../../../contract/oauth/grant.ts';
import type { ClientRow } from '../../storage/tables/client.ts';
import type { AuthContext } from '../auth-context.ts';
import { TokenError } from '../error.ts';
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

/**
 * Returns the scopes of a token: the requested ones, or all allowed ones if none were requested
 * (RFC 6749 §3.3). Scopes of OpenID Connect are ignored. Throws `invalid_scope` for a scope that is
 * unknown or not allowed.
 */
export function chooseScopes(requested: string | undefined, allowed: readonly string[]): readonly string[] {
  const named = [...new Set(requested?.split(' '))].filter((scope) => !identityScopes.has(scope));
  const scopes = named.length === 0 ? allowed : named;
  const refused = scopes.filter((scope) => !allowed.includes(scope));
  if (refused.length > 0 || scopes.length === 0) {
    throw new TokenError(
      'invalid_scope',
      `Cannot issue a token: scope must contain only scopes of the client, separated by single spaces: ${allowed.join(' ')}`,
    );
  }
  return scopes;
}
