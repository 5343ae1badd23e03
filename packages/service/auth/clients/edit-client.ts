import type { Directory } from '../../storage/store.ts';
import type { ClientRow } from '../../storage/tables/client.ts';
import {
  makeClientExternal,
  revokeClientTokens,
  type ClientEdit as StoredEdit,
  updateClient,
} from '../../storage/tables/client-changes.ts';
import { listSecretLifetimes, type SecretLifetime } from '../../storage/tables/client-secret.ts';
import { listLiveFamilies, type RefreshFamily, revokeRefreshFamily } from '../../storage/tables/refresh-family.ts';
import { ClientError } from '../error.ts';
import { requireClient } from './manage-clients.ts';

/** Changes to a client; an absent member leaves the value unchanged. */
export interface ClientEdit extends StoredEdit {
  /**
   * Turns the client into an external one: only an external issuer issues its tokens, and it has no
   * grants and no secret.
   */
  readonly external?: boolean | undefined;
}

/** A client with the lifetimes of its valid secrets. */
export interface DescribedClient {
  readonly client: ClientRow;
  readonly secrets: readonly SecretLifetime[];
}

/**
 * Returns a client with its valid secrets. Throws `ClientError` if there is no such client, as all
 * functions here do.
 */
export async function describeClient(store: Directory, nowSeconds: number, clientId: string): Promise<DescribedClient> {
  const client = await requireClient(store, clientId);
  return { client, secrets: await listSecretLifetimes(store, clientId, nowSeconds) };
}

/** Changes a client; every process sees the change at its next request. */
export async function editClient(
  store: Directory,
  nowSeconds: number,
  clientId: string,
  { external = false, ...edit }: ClientEdit,
): Promise<DescribedClient> {
  await updateClient(store, clientId, edit);
  // a token request may have passed a moment ago
  if (external) await makeClientExternal(store, clientId, nowSeconds + 1);
  return describeClient(store, nowSeconds, clientId);
}

/**
 * Returns the sessions of a client: the refresh families that can be refreshed, the most recently
 * used first. Throws `ClientError` if there is no such client.
 */
export async function listClientSessions(
  store: Directory,
  nowSeconds: number,
  clientId: string,
): Promise<readonly RefreshFamily[]> {
  await requireClient(store, clientId);
  return listLiveFamilies(store, clientId, nowSeconds);
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
