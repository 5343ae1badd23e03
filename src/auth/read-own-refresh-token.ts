import type { AuthContext } from './auth-context.ts';
import { hasRefreshTokenFormat, type RefreshTokenContent, readRefreshToken } from './refresh-token-format.ts';

/**
 * Reads a refresh token that a secret of this service protects, or returns `undefined`. Another
 * process may have created the secret a moment ago, so a well-formed token is rejected only after
 * reading the store again.
 */
export async function readOwnRefreshToken(
  { keys }: AuthContext,
  token: string,
): Promise<RefreshTokenContent | undefined> {
  if (!hasRefreshTokenFormat(token)) return undefined;
  return (
    readRefreshToken(token, await keys.refreshSecrets()) ?? readRefreshToken(token, await keys.refreshSecrets(true))
  );
}
