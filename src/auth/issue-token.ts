import { SignJWT } from 'jose';
import type { TokenResponse } from '../contract/token.ts';
import type { RefreshFamily } from '../storage/refresh-family.ts';
import type { AuthContext } from './auth-context.ts';
import { randomId } from './random-id.ts';
import { writeRefreshToken } from './refresh-token-text.ts';

/**
 * Issues an access token (RFC 9068 §2) for a client, with the living refresh token of its family when it has one, as a token answer (RFC 6749 §5.1).
 */
export async function issueToken(
  context: AuthContext,
  clientId: string,
  scopes: readonly string[],
  family: RefreshFamily | undefined,
): Promise<TokenResponse> {
  const { settings, keys, now } = context;
  const issuedAt = now();
  const scope = scopes.join(' ');
  const key = await keys.signingKey();
  const accessToken = await new SignJWT({ client_id: clientId, scope, ...(family && { sid: family.id }) })
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt' })
    .setIssuer(settings.issuer)
    .setAudience(settings.audience)
    .setSubject(clientId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + settings.accessTokenSeconds)
    .setJti(randomId())
    .sign(key.privateKey);
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: settings.accessTokenSeconds,
    ...(family && {
      refresh_token: writeRefreshToken(
        { family: family.id, generation: family.generation },
        (await keys.refreshSecrets())[0],
      ),
    }),
    refresh_expires_in: family === undefined ? 0 : family.expiresAt - issuedAt,
    scope,
    ...(settings.keycloakMembers && { 'not-before-policy': 0, ...(family && { session_state: family.id }) }),
  };
}
