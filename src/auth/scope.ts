import { identityScopes } from '../contract/token.ts';
import { TokenError } from './error.ts';

/**
 * The scopes of a token: those asked for, or all that may be had (RFC 6749 §3.3). Scopes of OpenID
 * Connect are left out, and when nothing else is asked for, nothing was. An unknown one, or one
 * that may not be had, is `invalid_scope`.
 */
export function chooseScopes(requested: string | undefined, allowed: readonly string[]): readonly string[] {
  const asked = [...new Set(requested?.split(' '))].filter((scope) => !identityScopes.has(scope));
  const wanted = asked.length === 0 ? allowed : asked;
  const refused = wanted.filter((scope) => !allowed.includes(scope));
  if (refused.length > 0 || wanted.length === 0) {
    throw new TokenError(
      'invalid_scope',
      `Cannot issue a token: scope must be among those of the client, separated by single blanks: ${allowed.join(' ')}`,
    );
  }
  return wanted;
}
