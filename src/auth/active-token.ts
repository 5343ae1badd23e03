import { createFreshCache } from '../storage/fresh-map.ts';
import { type ClientRow, findClientOfToken, isExternalClient } from '../storage/tables/client.ts';
import type { AuthContext } from './auth-context.ts';
import type { TokenClaims } from './verify-token.ts';

/**
 * Looks up the client of a valid token: `undefined` if the client is disabled or the token is
 * revoked.
 */
export type FindTokenClient = (claims: TokenClaims) => Promise<ClientRow | undefined>;

/**
 * Makes the check that a token which was valid when it was issued is still valid: its client
 * exists, is active and belongs to the token's issuer, and neither the refresh family of the token
 * nor all tokens of the client have been revoked since. The rows are cached until the store changes
 * (`Store.changeMark`).
 */
export function createActiveCheck({ store }: Pick<AuthContext, 'store'>): FindTokenClient {
  const find = createFreshCache(store, (key) => {
    // a family is a random id without spaces
    const [family = '', clientId = ''] = key.split(/ (.*)/s, 2);
    return findClientOfToken(store, clientId, family === '' ? undefined : family);
  });
  return async (claims) => {
    const found = await find(`${claims.family ?? ''} ${claims.clientId}`);
    if (found === undefined || found.familyRevoked || found.client.disabledAt !== null) return undefined;
    // a client id belongs to one issuer only
    if (claims.isOwn === isExternalClient(found.client)) return undefined;
    return isRevoked(claims, found.client) ? undefined : found.client;
  };
}

/**
 * Whether a token was issued before its client's tokens were revoked, or before this client
 * existed.
 */
function isRevoked({ issuedAt, isOwn }: TokenClaims, { tokensRevokedAt, createdAt }: ClientRow): boolean {
  if (tokensRevokedAt !== null && issuedAt <= tokensRevokedAt) return true;
  return isOwn && issuedAt < createdAt;
}
