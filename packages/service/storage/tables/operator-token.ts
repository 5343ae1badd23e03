import type { Directory, Row } from '../store.ts';
import { writeOne } from './write-one.ts';

/** An access token of an operator as stored. Times are UTC epoch seconds. */
export interface OperatorToken {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly createdAt: number;
  /** `null` if it never expires. */
  readonly expiresAt: number | null;
  /** When it was last used, to the minute; `null` if never. */
  readonly lastUsedAt: number | null;
  /** `null` unless it was revoked. */
  readonly revokedAt: number | null;
}

const columns = 'id, name, scopes, created_at, expires_at, last_used_at, revoked_at';

/**
 * Stores a new token by its SHA-256. Returns `false`, and stores nothing, if a valid token has its
 * name.
 */
export async function insertOperatorToken(
  store: Directory,
  { id, name, scopes, createdAt, expiresAt }: Omit<OperatorToken, 'lastUsedAt' | 'revokedAt'>,
  sha256: string,
): Promise<boolean> {
  const inserted = await writeOne(
    store,
    `insert into operator_token (id, name, scopes, sha256, created_at, expires_at)
     select $1, $2, $3, $4, cast($5 as bigint), cast($6 as bigint) where not exists (select 1 from operator_token
       where name = $2 and revoked_at is null and (expires_at is null or expires_at > $5))
     returning id`,
    [id, name, scopes.join(' '), sha256, createdAt, expiresAt],
  );
  return inserted.length === 1;
}

/** The token with this SHA-256, even if it is expired or revoked, or `undefined`. */
export async function findOperatorToken(store: Directory, sha256: string): Promise<OperatorToken | undefined> {
  const [row] = await store.readDirectory(`select ${columns} from operator_token where sha256 = $1` as const, [sha256]);
  return row === undefined ? undefined : toOperatorToken(row);
}

/** Up to `limit` tokens by id, also expired and revoked ones, after the id `after`. */
export async function listOperatorTokens(
  store: Directory,
  after: string,
  limit: number,
): Promise<readonly OperatorToken[]> {
  const rows = await store.readDirectory(
    `select ${columns} from operator_token where id > $1 order by id limit $2` as const,
    [after, limit],
  );
  return rows.map(toOperatorToken);
}

/**
 * Revokes a token; a token that was revoked before keeps its time. Returns it, or `undefined` if
 * there is none with this id.
 */
export async function revokeOperatorToken(
  store: Directory,
  id: string,
  nowSeconds: number,
): Promise<OperatorToken | undefined> {
  const [row] = await writeOne(
    store,
    `update operator_token set revoked_at = coalesce(revoked_at, $2) where id = $1 returning ${columns}` as const,
    [id, nowSeconds],
  );
  return row && toOperatorToken(row);
}

/** Records a use of a token, at most once a minute: a finer time is not needed. */
export async function recordOperatorTokenUse(
  store: Directory,
  token: OperatorToken,
  nowSeconds: number,
): Promise<void> {
  if (token.lastUsedAt !== null && nowSeconds - token.lastUsedAt < 60) return;
  await writeOne(store, 'update operator_token set last_used_at = $2 where id = $1', [token.id, nowSeconds]);
}

const secondsOrNull = (value: Row[string] | undefined): number | null => (value == null ? null : Number(value));

/** Reads a token from a row with all columns that its interface names. */
export function toOperatorToken(row: Row): OperatorToken {
  return {
    id: String(row.id),
    name: String(row.name),
    scopes: String(row.scopes).split(' '),
    createdAt: Number(row.created_at),
    expiresAt: secondsOrNull(row.expires_at),
    lastUsedAt: secondsOrNull(row.last_used_at),
    revokedAt: secondsOrNull(row.revoked_at),
  };
}
