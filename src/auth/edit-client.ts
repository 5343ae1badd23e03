import type { GrantType, RefreshTokenUse } from '../contract/grant.ts';
import type { Scope } from '../contract/scope.ts';
import type { Directory } from '../storage/store.ts';
import {
  type ClientRow,
  deleteClient,
  enableClient,
  findClient,
  listSecretLifetimes,
  makeClientExternal,
  type SecretLifetime,
  updateClient,
} from '../storage/tables/client.ts';
import { unknownClient } from './manage-clients.ts';

/** Changes to a client; an absent member leaves the value unchanged. */
export interface ClientEdit {
  readonly grants?: readonly GrantType[];
  readonly scopes?: readonly Scope[];
  /** `null` for the service's default. */
  readonly refreshTokenUse?: RefreshTokenUse | null;
  /** Requests per minute; 0 for no limit, `null` for the service's default. */
  readonly rateLimit?: number | null;
  /**
   * Turns the client into an external one: only an external issuer issues its tokens, and it has no
   * grants and no secret.
   */
  readonly external?: boolean;
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
  const client = await findClient(store, clientId);
  if (client === undefined) throw unknownClient(clientId);
  return { client, secrets: await listSecretLifetimes(store, clientId, nowSeconds) };
}

/** Changes a client; every process sees the change at its next request. */
export async function editClient(
  store: Directory,
  nowSeconds: number,
  clientId: string,
  { external = false, ...edit }: ClientEdit,
): Promise<DescribedClient> {
  await describeClient(store, nowSeconds, clientId);
  await updateClient(store, clientId, edit);
  // a token request may have passed a moment ago
  if (external) await makeClientExternal(store, clientId, nowSeconds + 1);
  return describeClient(store, nowSeconds, clientId);
}

/** Enables a disabled client. */
export async function enableClientById(store: Directory, clientId: string): Promise<void> {
  if ((await findClient(store, clientId)) === undefined) throw unknownClient(clientId);
  await enableClient(store, clientId);
}

/**
 * Deletes a client. Its tokens are rejected at once, and stay rejected if another client gets its
 * id.
 */
export async function deleteClientById(store: Directory, clientId: string): Promise<void> {
  if (!(await deleteClient(store, clientId))) throw unknownClient(clientId);
}
