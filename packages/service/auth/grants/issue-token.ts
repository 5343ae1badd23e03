import { sign } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';
import type { SigningAlgorithm } from '../../../contract/oauth/grant.ts';
import type { TokenResponse } from '../../../contract/oauth/token.ts';
import type { ClientRow, RefreshTokenUse } from '../../storage/tables/client.ts';
import type { RefreshFamily } from '../../storage/tables/refresh-family.ts';
import type { AuthContext } from '../auth-context.ts';
import type { SigningKey } from '../keys/signing-key.ts';
import { randomId } from '../random-id.ts';
import { writeRefreshToken } from './refresh-token-format.ts';

/** A token response (RFC 6749 §5.1), and the ids of its tokens for the log. */
export interface IssuedTokens {
  readonly response: TokenResponse;
  readonly ids: { readonly jti: string; readonly family?: string };
}

/**
 * Issues an access token (RFC 9068 §2) for a client, and the newest refresh token of its family if
 * it has one.
 */
export async function issueToken(
  context: AuthContext,
  client: ClientRow,
  scopes: readonly string[],
  family: RefreshFamily | undefined,
): Promise<IssuedTokens> {
  const { settings, keys } = context;
  const issuedAt = issueTime(context, client);
  const scope = scopes.join(' ');
  const key = await keys.signingKey();
  const jti = randomId();
  const accessToken = await signJwt(key, {
    client_id: client.clientId,
    scope,
    ...(family && { sid: family.id }),
    iss: settings.issuer,
    aud: settings.audience,
    sub: client.clientId,
    iat: issuedAt,
    exp: issuedAt + settings.accessTokenSeconds,
    jti,
  });
  const [secret] = await keys.refreshSecrets();
  const response: TokenResponse = {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: settings.accessTokenSeconds,
    ...(family && { refresh_token: writeRefreshToken(contentOf(context, client, family), secret) }),
    refresh_expires_in: family === undefined ? 0 : Math.max(0, family.expiresAt - issuedAt),
    scope,
    'not-before-policy': 0,
    ...(family && { session_state: family.id }),
  };
  return { response, ids: { jti, ...(family && { family: family.id }) } };
}

/**
 * Returns the `iat` of a new token: now, but after the second up to which the client's tokens are
 * revoked, and not before the client was created. Otherwise whole seconds, or another machine's
 * clock, could make it revoked from the start.
 */
export function issueTime({ now }: Pick<AuthContext, 'now'>, { tokensRevokedAt, createdAt }: ClientRow): number {
  return Math.max(now(), createdAt, (tokensRevokedAt ?? -1) + 1);
}

/** Whether used refresh tokens of a client are replaced or stay valid. */
export function refreshUseOf({ settings }: Pick<AuthContext, 'settings'>, client: ClientRow): RefreshTokenUse {
  return client.refreshTokenUse ?? settings.refreshTokenUse;
}

/**
 * A refresh token that stays valid alongside its successors carries its own expiry, as the family
 * stores only that of the newest one.
 */
function contentOf(context: AuthContext, client: ClientRow, { id, generation, expiresAt }: RefreshFamily) {
  const content = { family: id, generation };
  return refreshUseOf(context, client) === 'reuse' ? { ...content, expiresAt } : content;
}

/** Digests of the algorithms that sign in some 30 µs; RS256 and PS256 take over 1 ms. */
const fastDigests: Readonly<Partial<Record<SigningAlgorithm, string | null>>> = { ES256: 'sha256', EdDSA: null };

/**
 * Signs the claims of an access token as a JWT (RFC 7519 §7.1). Fast algorithms sign on the main
 * thread: handing an ES256 signature of 30 µs to a thread, as `jose` does, takes another 22 µs.
 * Slow ones use a thread.
 */
async function signJwt(
  { alg, privateKey, keyObject, header, encodedHeader }: SigningKey,
  claims: JWTPayload,
): Promise<string> {
  const digest = fastDigests[alg];
  if (digest === undefined) return new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
  const input = `${encodedHeader}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  // JWS concatenates the two numbers of an ECDSA signature (RFC 7518 §3.4)
  const signature = sign(digest, Buffer.from(input, 'latin1'), { key: keyObject, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}
