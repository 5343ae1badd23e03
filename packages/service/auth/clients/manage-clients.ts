import { randomBytes } from 'node:crypto';
import { defaultScopes, type GrantType, grantTypes, type Scope } from '../../../contract/oauth/grant.ts';
import type { Directory, TenantId } from '../../storage/store.ts';
import { type ClientRow, findClient, isExternalClient, type RefreshTokenUse } from '../../storage/tables/client.ts';
import { insertClient } from '../../storage/tables/client-changes.ts';
import { replaceSecret } from '../../storage/tables/client-secret.ts';
import { ClientError } from '../error.ts';
import { generateSecret, hashChosenSecret, hashGeneratedSecret } from './client-secret.ts';
import { secretFault } from './secret-rule.ts';

/**
 * A client to create. By default its id and secret are generated, it may use all grants, and its
 * scope is that of the report.
 */
export interface NewClient {
  readonly tenant: TenantId;
  readonly clientId?: string | undefined;
  /** The client's existing secret. It is hashed with argon2id, as a person may have chosen it. */
  readonly secret?: string | undefined;
  readonly grants?: readonly GrantType[] | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  /** Whether its used refresh tokens are replaced; by default as configured for the service. */
  readonly refreshTokenUse?: RefreshTokenUse | undefined;
  /** What people call it. */
  readonly name?: string | undefined;
}

/** The credentials of a new client. The secret is shown once and stored only as a hash. */
export interface ClientCredentialsOnce {
  readonly client_id: string;
  readonly client_secret: string;
}

const clientIdPattern = /^[\x21-\x7e]{1,255}$/;

/**
 * Creates a client of a tenant. Throws `ClientError` if its id is taken or a value breaks its rule.
 */
export async function createClient(
  store: Directory,
  nowSeconds: number,
  client: NewClient,
  chosen?: ChosenSecret,
): Promise<ClientCredentialsOnce> {
  const clientId = client.clientId ?? `sr-${randomBytes(12).toString('hex')}`;
  requireClientId(clientId);
  const { secret, hash } = chosen ?? (await chooseSecret(client.secret, [clientId, client.tenant]));
  await insertNew(store, nowSeconds, { ...client, clientId, grants: client.grants ?? grantTypes }, hash);
  return { client_id: clientId, client_secret: secret };
}

/**
 * Creates a client of a tenant that an external issuer knows under this id. It has no secret and no
 * grants here: only that issuer's tokens are accepted. Throws `ClientError` as `createClient` does.
 */
export async function createExternalClient(
  store: Directory,
  nowSeconds: number,
  client: Pick<NewClient, 'tenant' | 'name'> & { readonly clientId: string },
): Promise<{ readonly client_id: string }> {
  requireClientId(client.clientId);
  await insertNew(store, nowSeconds, { ...client, grants: [] });
  return { client_id: client.clientId };
}

/**
 * Gives a client a new secret. The old one stays valid for `overlapSeconds`, and so do its tokens:
 * `revokeTokens` (`edit-client.ts`) revokes them (RFC 9700 §4.14.2). Throws `ClientError`
 * if there is no such client, or if it cannot have a secret.
 */
export async function rotateClientSecret(
  store: Directory,
  nowSeconds: number,
  clientId: string,
  options: { secret?: string; overlapSeconds: number },
  chosen?: ChosenSecret,
): Promise<ClientCredentialsOnce> {
  const client = await requireClient(store, clientId);
  if (isExternalClient(client)) {
    throw new ClientError(
      'INVALID',
      `Cannot create a secret for the client: it must not be a client of the external issuer: current value is '${clientId}'`,
    );
  }
  const { secret, hash } = chosen ?? (await chooseSecret(options.secret, [clientId, client.tenant]));
  await replaceSecret(store, clientId, hash, nowSeconds, nowSeconds + options.overlapSeconds);
  return { client_id: clientId, client_secret: secret };
}

function requireClientId(clientId: string): void {
  if (clientIdPattern.test(clientId)) return;
  throw new ClientError(
    'INVALID',
    `Cannot create the client: its id must be 1 to 255 printable characters without spaces, such as acme-reporting: current value is '${clientId}'`,
  );
}

async function insertNew(
  store: Directory,
  nowSeconds: number,
  { scopes = defaultScopes, ...client }: NewClient & Pick<ClientRow, 'clientId' | 'grants'>,
  secretHash?: string,
): Promise<void> {
  if (await insertClient(store, { ...client, scopes, createdAt: nowSeconds }, secretHash)) return;
  throw new ClientError(
    'CONFLICT',
    `Cannot create the client: its id must not be in use: current value is '${client.clientId}'`,
  );
}

/** Returns the client with this id. Throws `ClientError` if there is none. */
export async function requireClient(store: Directory, clientId: string): Promise<ClientRow> {
  const client = await findClient(store, clientId);
  if (client !== undefined) return client;
  throw new ClientError(
    'NOT_FOUND',
    `Cannot find the client: its id must be in the list of clients: current value is '${clientId}'`,
  );
}

/** A secret of a client and its hash, which takes time for one that a person has chosen. */
export interface ChosenSecret {
  readonly secret: string;
  readonly hash: string;
}

/**
 * Returns the given secret if it fulfils the rule, or a generated one, with its hash. `context` has
 * the id and the tenant of its client.
 */
export async function chooseSecret(given: string | undefined, context: readonly string[]): Promise<ChosenSecret> {
  if (given === undefined) {
    const secret = generateSecret();
    return { secret, hash: hashGeneratedSecret(secret) };
  }
  const fault = secretFault(given, context);
  if (fault !== undefined)
    throw new ClientError('INVALID', `Cannot use the secret: ${fault}: current length is ${given.length}`);
  return { secret: given, hash: await hashChosenSecret(given) };
}
