import { directoryStatement, type Store } from '../store.ts';
import { type ClientRow, toClient } from './client.ts';

/**
 * A session of the report's console: a family without refresh tokens, so that everything that
 * revokes or lists families does the same with sessions. Times are UTC epoch seconds.
 */
export interface ConsoleSessionRow {
  /** Id of the family. */
  readonly family: string;
  readonly startedAt: number;
  /** When it was last used, to the minute. */
  readonly usedAt: number;
  /** When it ends unless it is used. */
  readonly expiresAt: number;
  /** When it ends, however often it is used. */
  readonly capAt: number;
  readonly revokedAt: number | null;
}

/** A session to be created. */
interface NewConsoleSession extends Omit<ConsoleSessionRow, 'usedAt' | 'revokedAt'> {
  readonly clientId: string;
  readonly scope: string;
  /** SHA-256 of the session id. */
  readonly sha256: string;
}

/** Sessions of a client at once; the least recently used ones end. */
const sessionsMax = 100;

/** Inserts a session; inserts no row if its client was deleted meanwhile. */
export async function insertConsoleSession(store: Store, session: NewConsoleSession): Promise<void> {
  const { clientId, family, scope, startedAt, expiresAt, capAt, sha256 } = session;
  await store.writeDirectory([
    directoryStatement(
      `insert into refresh_family
         (client_id, id, scope, generation, started_at, rotated_at, expires_at, cap_at, access_ends_at, session_sha256)
       select client_id, $2, $3, 1, $4, $4, $5, $6, $4, $7 from client where client_id = $1`,
      [clientId, family, scope, startedAt, expiresAt, capAt, sha256],
    ),
    directoryStatement(
      `update refresh_family set revoked_at = $2 where client_id = $1 and id in (
         select id from refresh_family
         where client_id = $1 and id <> $4 and session_sha256 is not null and revoked_at is null and expires_at > 0
         order by rotated_at desc, id limit 1000 offset $3)`,
      [clientId, startedAt, sessionsMax - 1, family],
    ),
  ]);
}

/** The session with this SHA-256 and its client, even if it has ended, or `undefined`. */
export async function findConsoleSession(
  store: Store,
  sha256: string,
): Promise<{ readonly session: ConsoleSessionRow; readonly client: ClientRow } | undefined> {
  const [row] = await store.readDirectory(
    `select c.client_id, c.tenant_id, c.grants, c.scopes, c.created_at, c.disabled_at, c.last_used_at,
       c.tokens_revoked_at, c.refresh_token_use, c.rate_limit_per_minute,
       f.id, f.started_at, f.rotated_at, f.expires_at, f.cap_at, f.revoked_at
     from refresh_family as f join client as c on c.client_id = f.client_id where f.session_sha256 = $1`,
    [sha256],
  );
  if (row === undefined) return undefined;
  const session = {
    family: String(row.id),
    startedAt: Number(row.started_at),
    usedAt: Number(row.rotated_at),
    expiresAt: Number(row.expires_at),
    capAt: Number(row.cap_at),
    revokedAt: row.revoked_at === null ? null : Number(row.revoked_at),
  };
  return { session, client: toClient(row) };
}

/** Records the use of a session, unless it has ended meanwhile. */
export async function touchConsoleSession(
  store: Store,
  clientId: string,
  { family, expiresAt }: Pick<ConsoleSessionRow, 'family' | 'expiresAt'>,
  nowSeconds: number,
): Promise<void> {
  await store.writeDirectory([
    directoryStatement(
      `update refresh_family set rotated_at = $3, expires_at = $4
       where client_id = $1 and id = $2 and revoked_at is null and expires_at > $3`,
      [clientId, family, nowSeconds, expiresAt],
    ),
  ]);
}
