import { identityScopes } from '../contract/scope.ts';
import { TokenError } from './error.ts';

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
