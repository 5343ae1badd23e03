import { createFreshCache } from '../storage/fresh-cache.ts';
import { type ClientRow, findClientOfToken, isExternalClient } from '../storage/tables/client.ts';
import type { AuthContext } from './auth-context.ts';
import type { TokenClaims } from './verify-token.ts';

/**
 * Looks up who a valid token belongs to now: the client, or `undefined` when it was disabled or the
 * token was revoked.
 */
export type FindTokenClient = (claims: TokenClaims) => Promise<ClientRow | undefined>;

/**
 * Makes the check that a token which was valid when it was issued still is: its client is there,
 * active and of the token's issuer, and neither the token's refresh family nor all tokens of the
 * client until then were revoked. What the store says is kept in memory for as long as the store is
 * known not to have changed (`Store.changeMark`).
 */
export function createActiveCheck({ store }: Pick<AuthContext, 'store'>): FindTokenClient {
  const find = createFreshCache(store, (key) => {
    // a family is a random id without blanks
    const [family = '', clientId = ''] = key.split(/ (.*)/s, 2);
    return findClientOfToken(store, clientId, family === '' ? undefined : family);
  });
  return async (claims) => {
    const found = await find(`${claims.family ?? ''} ${claims.clientId}`);
    if (found === undefined || found.familyRevoked || found.client.disabledAt !== null) return undefined;
    // an id is one client's at one issuer only
    if (claims.isOwn === isExternalClient(found.client)) return undefined;
    return isRevoked(claims, found.client) ? undefined : found.client;
  };
}

/** Whether a token is older than what was revoked, or than the client that has its id now. */
function isRevoked({ issuedAt, isOwn }: TokenClaims, { tokensRevokedAt, createdAt }: ClientRow): boolean {
  if (tokensRevokedAt !== null && issuedAt <= tokensRevokedAt) return true;
  return isOwn && issuedAt < createdAt;
}
