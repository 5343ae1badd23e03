import { type ClientRow, findClient } from '../storage/client.ts';
import { createFreshCache } from '../storage/fresh-cache.ts';
import { listRevokedFamilies } from '../storage/refresh-family.ts';
import type { AuthContext } from './auth-context.ts';
import { clockToleranceSeconds, type TokenClaims } from './verify-token.ts';

/** Looks up who a good token belongs to now: the client, or `undefined` when it was disabled or the token was revoked. */
export type FindTokenClient = (claims: TokenClaims) => Promise<ClientRow | undefined>;

/**
 * Makes the check that a token which was good when it was issued still is: its client is there and active, its refresh family was not revoked. Both are
 * kept in memory for as long as the store is known not to have changed (`Store.changeMark`).
 */
export function createActiveCheck({ store, settings, now }: AuthContext): FindTokenClient {
  const clientOf = createFreshCache(store, (clientId) => findClient(store, clientId));
  const revokedFamilies = createFreshCache(store, () =>
    listRevokedFamilies(store, now() - settings.accessTokenSeconds - clockToleranceSeconds),
  );
  return async ({ clientId, family }) => {
    const [client, revoked] = await Promise.all([
      clientOf(clientId),
      family === undefined ? undefined : revokedFamilies('all'),
    ]);
    const ended = family !== undefined && revoked?.has(family) === true;
    return client === undefined || client.disabledAt !== null || ended ? undefined : client;
  };
}
