import { type Directory, type DirectoryStatement, directoryStatement } from '../store.ts';
import { type ClientRow, findClient, type RefreshTokenUse } from './client.ts';
import { writeOne } from './write-one.ts';

type NewClientRow = Pick<ClientRow, 'clientId' | 'tenant' | 'grants' | 'scopes' | 'createdAt'> &
  Pick<ClientEdit, 'name' | 'refreshTokenUse'>;

/** Creates a client with its first secret, if any; returns `false` if the id is taken. */
export async function insertClient(
  store: Directory,
  client: NewClientRow,
  secretHash: string | undefined,
): Promise<boolean> {
  if ((await findClient(store, client.clientId)) !== undefined) return false;
  const { clientId, tenant, grants, scopes, createdAt, refreshTokenUse = null, name = null } = client;
  const [inserted] = await store.writeDirectory([
    directoryStatement(
      `insert into client (client_id, tenant_id, grants, scopes, created_at, refresh_token_use, name)
       values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (client_id) do nothing returning client_id`,
      [clientId, tenant, grants.join(' '), scopes.join(' '), createdAt, refreshTokenUse, name],
    ),
    ...(secretHash === undefined
      ? []
      : [
          directoryStatement(
            `insert into client_secret (client_id, hash, created_at) select client_id, $2, $3 from client
             where client_id = $1 and not exists (select 1 from client_secret where client_id = $1)`,
            [clientId, secretHash, createdAt],
          ),
        ]),
  ]);
  return inserted?.length === 1;
}

/**
 * Disables a client, unless it is already disabled, and revokes its tokens: it gets no new ones,
 * and its access tokens are rejected within a second.
 */
export async function disableClient(store: Directory, clientId: string, nowSeconds: number): Promise<void> {
  const disable = directoryStatement(
    'update client set disabled_at = $2 where client_id = $1 and disabled_at is null',
    [clientId, nowSeconds],
  );
  await store.writeDirectory([disable, ...revokeAll(clientId, nowSeconds)], { announce: true });
}

/** Revokes every token issued to a client so far, including those without a refresh family. */
export async function revokeClientTokens(store: Directory, clientId: string, nowSeconds: number): Promise<void> {
  await store.writeDirectory(revokeAll(clientId, nowSeconds), { announce: true });
}

/** The statements that revoke every token issued to a client up to `nowSeconds`. */
const revokeAll = (clientId: string, nowSeconds: number): readonly DirectoryStatement[] => [
  directoryStatement(
    `update client set tokens_revoked_at = $2
     where client_id = $1 and (tokens_revoked_at is null or tokens_revoked_at < $2)`,
    [clientId, nowSeconds],
  ),
  directoryStatement('update refresh_family set revoked_at = $2 where client_id = $1 and revoked_at is null', [
    clientId,
    nowSeconds,
  ]),
];

/** Changes to a client; omitted properties stay as they are. */
export interface ClientEdit {
  /** `null` for no name. */
  readonly name?: string | null | undefined;
  readonly grants?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** `null` for the service's default. */
  readonly refreshTokenUse?: RefreshTokenUse | null | undefined;
  /** Requests per minute; 0 for no limit, `null` for the service's default. */
  readonly rateLimit?: number | null | undefined;
}

/** Enables a disabled client; tokens revoked when it was disabled stay revoked. */
export async function enableClient(store: Directory, clientId: string): Promise<void> {
  await writeOne(store, 'update client set disabled_at = null where client_id = $1', [clientId], { announce: true });
}

/** Changes a client. Tokens that exceed its grants and scopes are rejected from now on. */
export async function updateClient(
  store: Directory,
  clientId: string,
  { grants, scopes, refreshTokenUse, rateLimit, name }: ClientEdit,
): Promise<void> {
  // whether a value is given, and the value, which may be null
  const given = [refreshTokenUse, rateLimit, name].flatMap((value) => [value === undefined ? 0 : 1, value ?? null]);
  await writeOne(
    store,
    `update client set grants = coalesce($2, grants), scopes = coalesce($3, scopes),
       refresh_token_use = case when cast($4 as bigint) = 1 then $5 else refresh_token_use end,
       rate_limit_per_minute = case when cast($6 as bigint) = 1 then cast($7 as bigint) else rate_limit_per_minute end,
       name = case when cast($8 as bigint) = 1 then $9 else name end
     where client_id = $1`,
    [clientId, grants?.join(' ') ?? null, scopes?.join(' ') ?? null, ...given],
    { announce: true },
  );
}

/**
 * Leaves a client's tokens to the external issuer: removes its grants and secrets and revokes the
 * tokens issued here.
 */
export async function makeClientExternal(store: Directory, clientId: string, nowSeconds: number): Promise<void> {
  await store.writeDirectory(
    [
      directoryStatement("update client set grants = '' where client_id = $1", [clientId]),
      directoryStatement('delete from client_secret where client_id = $1', [clientId]),
      ...revokeAll(clientId, nowSeconds),
    ],
    { announce: true },
  );
}

/**
 * Removes a client with its secrets and refresh families; returns `false` if there was none. Its
 * tokens are rejected at once, and stay rejected if another client gets its id.
 */
export async function deleteClient(store: Directory, clientId: string): Promise<boolean> {
  const results = await store.writeDirectory(
    [
      directoryStatement('delete from refresh_family where client_id = $1', [clientId]),
      directoryStatement('delete from client_secret where client_id = $1', [clientId]),
      directoryStatement('delete from client where client_id = $1 returning client_id', [clientId]),
    ],
    { announce: true },
  );
  return results.at(-1)?.length === 1;
}
