import type { AuthContext } from './auth-context.ts';
import { isRefreshTokenForm, type RefreshTokenContent, readRefreshToken } from './refresh-token-text.ts';

/**
 * Reads a refresh token that a secret of this service protects, or gives `undefined`. One that has
 * the form and no secret of ours may be protected by a secret that another process made a moment
 * ago, so the store is asked before it is refused.
 */
export async function readOwnRefreshToken(
  { keys }: AuthContext,
  text: string,
): Promise<RefreshTokenContent | undefined> {
  if (!isRefreshTokenForm(text)) return undefined;
  return readRefreshToken(text, await keys.refreshSecrets()) ?? readRefreshToken(text, await keys.refreshSecrets(true));
}
