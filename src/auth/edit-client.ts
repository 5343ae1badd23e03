import type { GrantType, RefreshTokenUse, Scope } from '../contract/token.ts';
import type { Store } from '../storage/store.ts';
import { type ClientRow, findClient } from '../storage/tables/client.ts';
import {
  deleteClient,
  enableClient,
  listSecretLifetimes,
  makeClientExternal,
  type SecretLifetime,
  updateClient,
} from '../storage/tables/edit-client.ts';
import { unknownClient } from './manage-clients.ts';

/** What of a client is to be changed; what is left out stays. */
export interface WantedEdit {
  readonly grants?: readonly GrantType[];
  readonly scopes?: readonly Scope[];
  /** `null` for what the service does with the refresh tokens of all clients. */
  readonly refreshTokenUse?: RefreshTokenUse | null;
  /**
   * Makes it a client that only an external issuer gives tokens to: without grants and without a
   * secret.
   */
  readonly external?: boolean;
}

/** A client with the lifetimes of its valid secrets. */
export interface DescribedClient {
  readonly client: ClientRow;
  readonly secrets: readonly SecretLifetime[];
}

/**
 * The client of an id with its valid secrets. Throws `ClientError` when there is no such client, as
 * all functions here do.
 */
export async function describeClient(store: Store, nowSeconds: number, clientId: string): Promise<DescribedClient> {
  const client = await findClient(store, clientId);
  if (client === undefined) throw unknownClient(clientId);
  return { client, secrets: await listSecretLifetimes(store, clientId, nowSeconds) };
}

/** Changes a client, from its next request on in every process. */
export async function editClient(
  store: Store,
  nowSeconds: number,
  clientId: string,
  { external = false, ...edit }: WantedEdit,
): Promise<DescribedClient> {
  await describeClient(store, nowSeconds, clientId);
  await updateClient(store, clientId, edit);
  // as a token request may have passed a moment ago
  if (external) await makeClientExternal(store, clientId, nowSeconds + 1);
  return describeClient(store, nowSeconds, clientId);
}

/** Lets a disabled client in again; `false` when it was not disabled. */
export async function enableClientById(store: Store, clientId: string): Promise<boolean> {
  if ((await findClient(store, clientId)) === undefined) throw unknownClient(clientId);
  return enableClient(store, clientId);
}

/**
 * Removes a client; its tokens are refused at once, and stay refused when another client gets its
 * id.
 */
export async function deleteClientById(store: Store, clientId: string): Promise<void> {
  if (!(await deleteClient(store, clientId))) throw unknownClient(clientId);
}
