import { directoryStatement, type Store } from '../store.ts';
import { type RefreshTokenUse, revokeAll } from './client.ts';

/** What of a client is to be changed; what is left out stays. */
interface ClientEdit {
  readonly grants?: readonly string[];
  readonly scopes?: readonly string[];
  /** `null` for what the service does with the refresh tokens of all clients. */
  readonly refreshTokenUse?: RefreshTokenUse | null;
}

/**
 * When a secret of a client was made, and when it ends, in UTC epoch seconds; `null` when it has no
 * end.
 */
export interface SecretLifetime {
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/**
 * Lets a disabled client in again; the tokens that it had before stay revoked. `false` when it was
 * not disabled.
 */
export async function enableClient(store: Store, clientId: string): Promise<boolean> {
  const [enabled] = await store.writeDirectory(
    [
      directoryStatement(
        'update client set disabled_at = null where client_id = $1 and disabled_at is not null returning client_id',
        [clientId],
      ),
    ],
    { announce: true },
  );
  return enabled?.length === 1;
}

/** Changes what a client may do. A token that has more than the client may do now is refused. */
export async function updateClient(
  store: Store,
  clientId: string,
  { grants, scopes, refreshTokenUse }: ClientEdit,
): Promise<void> {
  await store.writeDirectory(
    [
      directoryStatement(
        `update client set grants = coalesce($2, grants), scopes = coalesce($3, scopes),
           refresh_token_use = case when $4 = 1 then $5 else refresh_token_use end
         where client_id = $1`,
        [
          clientId,
          grants?.join(' ') ?? null,
          scopes?.join(' ') ?? null,
          refreshTokenUse === undefined ? 0 : 1,
          refreshTokenUse ?? null,
        ],
      ),
    ],
    { announce: true },
  );
}

/**
 * Makes a client one that an external issuer knows: without grants and secrets, its tokens from
 * here revoked.
 */
export async function makeClientExternal(store: Store, clientId: string, nowSeconds: number): Promise<void> {
  await store.writeDirectory(
    [
      directoryStatement("update client set grants = '' where client_id = $1", [clientId]),
      directoryStatement('delete from client_secret where client_id = $1', [clientId]),
      ...revokeAll(clientId, nowSeconds),
    ],
    { announce: true },
  );
}

/** Removes a client with its secrets and refresh families; `false` when there was none. */
export async function deleteClient(store: Store, clientId: string): Promise<boolean> {
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

/** The secrets of a client that are valid, newest first. */
export async function listSecretLifetimes(
  store: Store,
  clientId: string,
  nowSeconds: number,
): Promise<readonly SecretLifetime[]> {
  const rows = await store.readDirectory(
    `select created_at, expires_at from client_secret where client_id = $1 and (expires_at is null or expires_at > $2)
     order by created_at desc, hash`,
    [clientId, nowSeconds],
  );
  return rows.map(({ created_at, expires_at }) => ({
    createdAt: Number(created_at),
    expiresAt: expires_at === null ? null : Number(expires_at),
  }));
}
