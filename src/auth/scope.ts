import { TokenError } from './error.ts';

/**
 * The scopes of a token: those asked for, or all that may be had (RFC 6749 §3.3). An unknown one, or one that may not be had, is `invalid_scope`.
 */
export function chooseScopes(requested: string | undefined, allowed: readonly string[]): readonly string[] {
  const wanted = requested === undefined ? allowed : [...new Set(requested.split(' '))];
  const refused = wanted.filter((scope) => !allowed.includes(scope));
  if (refused.length > 0 || wanted.length === 0) {
    throw new TokenError(
      'invalid_scope',
      `Cannot issue a token: scope must be among those of the client, separated by single blanks: ${allowed.join(' ')}`,
    );
  }
  return wanted;
}
