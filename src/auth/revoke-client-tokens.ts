import type { Directory } from '../storage/store.ts';
import { findClient, revokeClientTokens } from '../storage/tables/client.ts';
import { listLiveFamilies, revokeRefreshFamily } from '../storage/tables/refresh-family.ts';
import { ClientError } from './error.ts';
import { unknownClient } from './manage-clients.ts';

/**
 * The tokens that come from one token request of a client: a refresh family. Times are UTC epoch
 * seconds.
 */
export interface ClientSession {
  readonly id: string;
  readonly scopes: readonly string[];
  /** `null` for a session from before this was stored. */
  readonly startedAt: number | null;
  readonly lastUsedAt: number;
  readonly refreshes: number;
  /** When its newest refresh token expires. */
  readonly expiresAt: number;
  /** When it expires, however often it is refreshed. */
  readonly endsAt: number;
}

/**
 * Returns the sessions of a client that can be refreshed, the most recently used first. Throws
 * `ClientError` if there is no such client.
 */
export async function listClientSessions(
  store: Directory,
  nowSeconds: number,
  clientId: string,
): Promise<readonly ClientSession[]> {
  await requireClient(store, clientId);
  const families = await listLiveFamilies(store, clientId, nowSeconds);
  return families.map(({ id, scope, generation, startedAt, rotatedAt, expiresAt, capAt }) => ({
    id,
    scopes: scope.split(' '),
    startedAt,
    lastUsedAt: rotatedAt,
    refreshes: generation - 1,
    expiresAt,
    endsAt: capAt,
  }));
}

/**
 * Revokes every token that a client has now, including access tokens without a refresh token, and
 * those of the next second: a request that was authenticated a moment ago may still be issued one.
 * The client stays active and its secret valid. Throws `ClientError` if there is no such client.
 */
export async function revokeTokens(store: Directory, nowSeconds: number, clientId: string): Promise<void> {
  await requireClient(store, clientId);
  await revokeClientTokens(store, clientId, nowSeconds + 1);
}

/**
 * Revokes one session of a client, including its access tokens. Throws `ClientError` if there is no
 * such client or session.
 */
export async function revokeSession(store: Directory, nowSeconds: number, clientId: string, id: string): Promise<void> {
  await requireClient(store, clientId);
  if (await revokeRefreshFamily(store, clientId, id, nowSeconds)) return;
  throw new ClientError(
    'NOT_FOUND',
    `Cannot revoke the session: its id must be in the list of the client's sessions: current value is '${id}'`,
  );
}

async function requireClient(store: Directory, clientId: string): Promise<void> {
  if ((await findClient(store, clientId)) === undefined) throw unknownClient(clientId);
}
