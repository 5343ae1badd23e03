import {
  type Directory,
  type DirectoryStatement,
  directoryStatement,
  type Row,
  type Store,
  type TenantId,
} from '../store.ts';

/** A client as stored. Lists are space-separated in the database. */
export interface ClientRow {
  readonly clientId: string;
  readonly tenant: TenantId;
  /** Empty for a client whose tokens an external issuer issues. */
  readonly grants: readonly string[];
  readonly scopes: readonly string[];
  /** UTC epoch seconds. */
  readonly createdAt: number;
  /** When it was disabled, in UTC epoch seconds; `null` if it is enabled. */
  readonly disabledAt: number | null;
  /** When it last got a token, to the minute, in UTC epoch seconds; `null` if never. */
  readonly lastUsedAt: number | null;
  /**
   * Tokens issued up to this time, in UTC epoch seconds, are revoked; `null` if they never were.
   */
  readonly tokensRevokedAt: number | null;
  /** What happens to a used refresh token; `null` for the service's default. */
  readonly refreshTokenUse: RefreshTokenUse | null;
  /** Requests per minute; 0 for no limit, `null` for the service's default. */
  readonly rateLimit: number | null;
  /** What people call it; `null` if it has no name. */
  readonly name: string | null;
}

/** Whether only the external issuer issues tokens for this client: it has none of our grants. */
export const isExternalClient = ({ grants }: Pick<ClientRow, 'grants'>): boolean => grants.length === 0;

/** `rotate`: a used refresh token is no longer valid. `reuse`: it stays valid until it expires. */
export type RefreshTokenUse = 'rotate' | 'reuse';

type NewClientRow = Omit<ClientRow, 'tokensRevokedAt' | 'refreshTokenUse' | 'rateLimit' | 'name'> & {
  readonly name?: string | null;
  readonly refreshTokenUse?: RefreshTokenUse;
};

/**
 * A hashed secret of a client; `expiresAt` is in UTC epoch seconds, or `null` if it never expires.
 */
interface ClientSecretRow {
  readonly hash: string;
  readonly expiresAt: number | null;
}

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

/** The client with this id, even if disabled, or `undefined`. */
export async function findClient(store: Directory, clientId: string): Promise<ClientRow | undefined> {
  const [row] = await store.readDirectory(
    `select client_id, tenant_id, grants, scopes, created_at, disabled_at, last_used_at, tokens_revoked_at, refresh_token_use,
       rate_limit_per_minute, name
     from client where client_id = $1`,
    [clientId],
  );
  return row === undefined ? undefined : toClient(row);
}

/**
 * Reads in one statement the client of a token and whether the token's refresh family is missing or
 * revoked; a token without a family is never revoked by one. Returns `undefined` if the client does
 * not exist.
 */
export async function findClientOfToken(
  store: Store,
  clientId: string,
  family: string | undefined,
): Promise<{ readonly client: ClientRow; readonly familyRevoked: boolean } | undefined> {
  const [row] = await store.readDirectory(
    `select c.client_id, c.tenant_id, c.grants, c.scopes, c.created_at, c.disabled_at, c.last_used_at,
       c.tokens_revoked_at, c.refresh_token_use, c.rate_limit_per_minute, c.name, f.id as family, f.revoked_at
     from client as c left join refresh_family as f on f.client_id = c.client_id and f.id = $2 where c.client_id = $1`,
    [clientId, family ?? null],
  );
  if (row === undefined) return undefined;
  const familyRevoked = family !== undefined && (row.family === null || row.revoked_at !== null);
  return { client: toClient(row), familyRevoked };
}

/** A part of a list of clients: up to `limit` after the one with this tenant and id. */
export interface ClientPage {
  /** Only clients whose id begins with this, or whose name contains it, in any case. */
  readonly search?: string | undefined;
  readonly afterTenant: string;
  readonly afterId: string;
  readonly limit: number;
}

const allClients: ClientPage = { afterTenant: '', afterId: '', limit: 2 ** 31 - 1 };

/** The clients of a tenant, or of all tenants, by tenant and id. */
export async function listClients(
  store: Store,
  tenant?: TenantId,
  { afterTenant, afterId, limit, search }: ClientPage = allClients,
): Promise<readonly ClientRow[]> {
  const rows = await store.readDirectory(
    `select client_id, tenant_id, grants, scopes, created_at, disabled_at, last_used_at, tokens_revoked_at, refresh_token_use,
       rate_limit_per_minute, name
     from client where (tenant_id = $1 or $1 is null) and (tenant_id, client_id) > ($2, $3)
       and (lower(client_id) like lower($5) || '%' escape '!' or lower(name) like '%' || lower($5) || '%' escape '!' or $5 is null)
     order by tenant_id, client_id limit $4`,
    [tenant ?? null, afterTenant, afterId, limit, search?.replace(/[!%_]/g, '!$&') ?? null],
  );
  return rows.map(toClient);
}

/** Whether there is any client. */
export const hasClients = async (store: Store): Promise<boolean> =>
  (await store.readDirectory('select client_id from client limit 1')).length > 0;

/**
 * A client, even if disabled, with its valid secrets, newest first; `undefined` if there is none
 * with this id.
 */
export async function findClientWithSecrets(
  store: Store,
  clientId: string,
  nowSeconds: number,
): Promise<{ readonly client: ClientRow; readonly secrets: readonly ClientSecretRow[] } | undefined> {
  const rows = await store.readDirectory(
    `select c.client_id, c.tenant_id, c.grants, c.scopes, c.created_at, c.disabled_at, c.last_used_at,
       c.tokens_revoked_at, c.refresh_token_use, c.rate_limit_per_minute, c.name, s.hash, s.expires_at
     from client as c left join client_secret as s on s.client_id = c.client_id and (s.expires_at is null or s.expires_at > $2)
     where c.client_id = $1 order by s.created_at desc`,
    [clientId, nowSeconds],
    { inGroup: true },
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  const secrets = rows
    .filter(({ hash }) => hash !== null)
    .map((row) => ({
      hash: String(row.hash),
      expiresAt: row.expires_at === null ? null : Number(row.expires_at),
    }));
  return { client: toClient(first), secrets };
}

/**
 * Adds a new secret to a client. Its other secrets expire at `oldExpiresAt` (UTC epoch seconds) at
 * the latest, and expired ones are removed.
 */
export async function replaceSecret(
  store: Directory,
  clientId: string,
  secretHash: string,
  nowSeconds: number,
  oldExpiresAt: number,
): Promise<void> {
  await store.writeDirectory([
    directoryStatement('delete from client_secret where client_id = $1 and expires_at <= $2', [clientId, nowSeconds]),
    directoryStatement(
      'update client_secret set expires_at = $2 where client_id = $1 and (expires_at is null or expires_at > $2)',
      [clientId, oldExpiresAt],
    ),
    directoryStatement('insert into client_secret (client_id, hash, created_at) values ($1, $2, $3)', [
      clientId,
      secretHash,
      nowSeconds,
    ]),
  ]);
}

/** Records that a client got a token, at most once a minute: a finer time is not needed. */
export async function recordClientUse(store: Store, client: ClientRow, nowSeconds: number): Promise<void> {
  if (client.lastUsedAt !== null && nowSeconds - client.lastUsedAt < 60) return;
  await store.writeDirectory([
    directoryStatement('update client set last_used_at = $2 where client_id = $1', [client.clientId, nowSeconds]),
  ]);
}

/** Disables a client and revokes its tokens; returns `false` if it was already disabled. */
export async function disableClient(store: Directory, clientId: string, nowSeconds: number): Promise<boolean> {
  const disable = directoryStatement(
    'update client set disabled_at = $2 where client_id = $1 and disabled_at is null returning client_id',
    [clientId, nowSeconds],
  );
  const [disabled] = await store.writeDirectory([disable, ...revokeAll(clientId, nowSeconds)], { announce: true });
  return disabled?.length === 1;
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

/** Reads a client from a row with all columns of its table. */
export function toClient(row: Row): ClientRow {
  return {
    clientId: String(row.client_id),
    tenant: row.tenant_id as TenantId,
    grants: String(row.grants)
      .split(' ')
      .filter((grant) => grant !== ''),
    scopes: String(row.scopes).split(' '),
    createdAt: Number(row.created_at),
    disabledAt: row.disabled_at === null ? null : Number(row.disabled_at),
    lastUsedAt: row.last_used_at === null ? null : Number(row.last_used_at),
    tokensRevokedAt: row.tokens_revoked_at === null ? null : Number(row.tokens_revoked_at),
    refreshTokenUse: row.refresh_token_use as RefreshTokenUse | null,
    rateLimit: row.rate_limit_per_minute === null ? null : Number(row.rate_limit_per_minute),
    name: row.name as string | null,
  };
}

/**
 * Replaces the hash of a client's secret with another hash of the same secret; has no effect if the
 * secret was replaced meanwhile.
 */
export async function rewriteSecretHash(store: Store, clientId: string, hash: string, newHash: string): Promise<void> {
  await store.writeDirectory([
    directoryStatement('update client_secret set hash = $3 where client_id = $1 and hash = $2', [
      clientId,
      hash,
      newHash,
    ]),
  ]);
}

/** Changes to a client; omitted properties stay as they are. */
interface ClientEdit {
  /** `null` for no name. */
  readonly name?: string | null;
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
  { grants, scopes, refreshTokenUse, rateLimit, name }: ClientEdit,
): Promise<void> {
  await store.writeDirectory(
    [
      directoryStatement(
        `update client set grants = coalesce($2, grants), scopes = coalesce($3, scopes),
           refresh_token_use = case when $4 = 1 then $5 else refresh_token_use end,
           rate_limit_per_minute = case when $6 = 1 then $7 else rate_limit_per_minute end,
           name = case when $8 = 1 then $9 else name end
         where client_id = $1`,
        [
          clientId,
          grants?.join(' ') ?? null,
          scopes?.join(' ') ?? null,
          refreshTokenUse === undefined ? 0 : 1,
          refreshTokenUse ?? null,
          rateLimit === undefined ? 0 : 1,
          rateLimit ?? null,
          name === undefined ? 0 : 1,
          name ?? null,
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
