import type { AuthContext } from './auth-context.ts';
import { isRefreshTokenForm, type RefreshTokenContent, readRefreshToken } from './refresh-token-text.ts';

/**
 * Reads a refresh token that a secret of this service protects, or returns `undefined`. Another
 * process may have created the secret a moment ago, so a well-formed token is rejected only after
 * reading the store again.
 */
export async function readOwnRefreshToken(
  { keys }: AuthContext,
  text: string,
): Promise<RefreshTokenContent | undefined> {
  if (!isRefreshTokenForm(text)) return undefined;
  return readRefreshToken(text, await keys.refreshSecrets()) ?? readRefreshToken(text, await keys.refreshSecrets(true));
}
