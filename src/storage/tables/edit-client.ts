import { type Directory, directoryStatement } from '../store.ts';
import { type RefreshTokenUse, revokeAll } from './client.ts';

/** Changes to a client; omitted properties stay as they are. */
interface ClientEdit {
  readonly grants?: readonly string[];
  readonly scopes?: readonly string[];
  /** `null` for the service's default. */
  readonly refreshTokenUse?: RefreshTokenUse | null;
  /** `null` for the service's default. */
  readonly rateLimit?: number | null;
}

/**
 * When a secret of a client was created and when it expires, in UTC epoch seconds; `null` if it
 * never expires.
 */
export interface SecretLifetime {
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/**
 * Enables a disabled client; tokens revoked when it was disabled stay revoked. Returns `false` if
 * it was not disabled.
 */
export async function enableClient(store: Directory, clientId: string): Promise<boolean> {
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

/** Changes a client. Tokens that exceed its grants and scopes are rejected from now on. */
export async function updateClient(
  store: Directory,
  clientId: string,
  { grants, scopes, refreshTokenUse, rateLimit }: ClientEdit,
): Promise<void> {
  await store.writeDirectory(
    [
      directoryStatement(
        `update client set grants = coalesce($2, grants), scopes = coalesce($3, scopes),
           refresh_token_use = case when $4 = 1 then $5 else refresh_token_use end,
           rate_limit_per_minute = case when $6 = 1 then $7 else rate_limit_per_minute end
         where client_id = $1`,
        [
          clientId,
          grants?.join(' ') ?? null,
          scopes?.join(' ') ?? null,
          refreshTokenUse === undefined ? 0 : 1,
          refreshTokenUse ?? null,
          rateLimit === undefined ? 0 : 1,
          rateLimit ?? null,
        ],
      ),
    ],
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

/** Removes a client with its secrets and refresh families; returns `false` if there was none. */
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

/** The valid secrets of a client, newest first. */
export async function listSecretLifetimes(
  store: Directory,
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
