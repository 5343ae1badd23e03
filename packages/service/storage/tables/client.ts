import type { Directory, Row, Store, TenantId } from '../store.ts';
import { writeOne } from './write-one.ts';

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
  /** Display name; `null` if it has none. */
  readonly name: string | null;
}

/** Whether only the external issuer issues tokens for this client: it has none of our grants. */
export const isExternalClient = ({ grants }: Pick<ClientRow, 'grants'>): boolean => grants.length === 0;

/** `rotate`: a used refresh token is no longer valid. `reuse`: it stays valid until it expires. */
export type RefreshTokenUse = 'rotate' | 'reuse';

/** The columns that `toClient` reads, of the table as `c`. */
export const clientColumns = `c.client_id, c.tenant_id, c.grants, c.scopes, c.created_at, c.disabled_at, c.last_used_at,
  c.tokens_revoked_at, c.refresh_token_use, c.rate_limit_per_minute, c.name` as const;

/** The client with this id, even if disabled, or `undefined`. */
export async function findClient(store: Directory, clientId: string): Promise<ClientRow | undefined> {
  const [row] = await store.readDirectory(`select ${clientColumns} from client as c where c.client_id = $1` as const, [
    clientId,
  ]);
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
    `select ${clientColumns}, f.id as family, f.revoked_at
     from client as c left join refresh_family as f on f.client_id = c.client_id and f.id = $2 where c.client_id = $1` as const,
    [clientId, family ?? null],
  );
  if (row === undefined) return undefined;
  const familyRevoked = family !== undefined && (row.family === null || row.revoked_at !== null);
  return { client: toClient(row), familyRevoked };
}

/** Records that a client got a token, at most once a minute: a finer time is not needed. */
export async function recordClientUse(store: Store, client: ClientRow, nowSeconds: number): Promise<void> {
  if (client.lastUsedAt !== null && nowSeconds - client.lastUsedAt < 60) return;
  await writeOne(store, 'update client set last_used_at = $2 where client_id = $1', [client.clientId, nowSeconds]);
}

/** Reads a client from a row with `clientColumns`. */
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
