import { directoryStatement, type Row, type Store } from '../store.ts';
import { type ClientRow, clientColumns, toClient } from './client.ts';
import { inBatches } from './in-batches.ts';
import { type OperatorToken, toOperatorToken } from './operator-token.ts';
import { revokeRefreshFamily } from './refresh-family.ts';
import { writeOne } from './write-one.ts';

/** Times of a session of a console, in UTC epoch seconds. */
export interface SessionTimes {
  /** When it was last used, to the minute. */
  readonly usedAt: number;
  /** When it ends unless it is used. */
  readonly expiresAt: number;
  /** When it ends, however often it is used. */
  readonly capAt: number;
}

/** A session of a console as stored. */
interface SessionRow extends SessionTimes {
  readonly startedAt: number;
  /** The refresh family of a client's session; `null` for a session of an operator. */
  readonly family: string | null;
  readonly revokedAt: number | null;
}

interface NewSession extends Omit<SessionTimes, 'usedAt'> {
  /** SHA-256 of the session id. */
  readonly sha256: string;
  readonly startedAt: number;
  readonly family: string | null;
}

export interface StoredSession<Holder> {
  readonly sha256: string;
  readonly session: SessionRow;
  readonly holder: Holder;
}

/** Where the sessions of a kind of holder are stored. */
export interface SessionTable<Holder> {
  insert(store: Store, holderId: string, session: NewSession): Promise<void>;
  /** The session with this SHA-256, even if it has ended, or `undefined`. */
  find(store: Store, sha256: string): Promise<StoredSession<Holder> | undefined>;
  /** Records the use of a session, unless it has ended meanwhile. */
  touch(store: Store, sha256: string, times: SessionTimes): Promise<void>;
  /** Ends a session; returns `false` if it had been ended before. */
  end(store: Store, session: StoredSession<Holder>, nowSeconds: number): Promise<boolean>;
}

/** Maximum concurrent sessions of a holder; the least recently used ones end. */
const sessionsMax = 100;

/**
 * Time for which the row of an operator's session is kept after its end, in seconds, to say why it
 * ended.
 */
const retentionSeconds = 86_400;

const sweepRowsMax = 500;

/** The only scope of a session of a client. */
export const sessionScope = 'subscription:read';

/**
 * A session of the report's console is a family without refresh tokens, so that everything that
 * revokes or lists families does the same with sessions.
 */
export const clientSessions: SessionTable<ClientRow> = {
  async insert(store, clientId, { sha256, startedAt, expiresAt, capAt, family }) {
    await store.writeDirectory([
      // inserts no row if the client was deleted meanwhile
      directoryStatement(
        `insert into refresh_family
           (client_id, id, scope, generation, started_at, rotated_at, expires_at, cap_at, access_ends_at, session_sha256)
         select client_id, $2, $3, 1, $4, $4, $5, $6, $4, $7 from client where client_id = $1`,
        [clientId, family, sessionScope, startedAt, expiresAt, capAt, sha256],
      ),
      directoryStatement(
        `update refresh_family set revoked_at = $2 where client_id = $1 and id in (
           select id from refresh_family
           where client_id = $1 and id <> $4 and session_sha256 is not null and revoked_at is null and expires_at > 0
           order by rotated_at desc, id limit 1000 offset $3)`,
        [clientId, startedAt, sessionsMax - 1, family],
      ),
    ]);
  },
  async find(store, sha256) {
    const [row] = await store.readDirectory(
      `select ${clientColumns}, f.id as family, f.started_at, f.rotated_at as used_at,
         f.expires_at as session_expires_at, f.cap_at, f.revoked_at as session_revoked_at
       from refresh_family as f join client as c on c.client_id = f.client_id where f.session_sha256 = $1` as const,
      [sha256],
    );
    return row && { sha256, session: toSession(row), holder: toClient(row) };
  },
  async touch(store, sha256, { usedAt, expiresAt }) {
    await writeOne(
      store,
      `update refresh_family set rotated_at = $2, expires_at = $3
       where session_sha256 = $1 and revoked_at is null and expires_at > $2`,
      [sha256, usedAt, expiresAt],
    );
  },
  end: (store, { session, holder }, nowSeconds) =>
    revokeRefreshFamily(store, holder.clientId, session.family ?? '', nowSeconds),
};

/** The sessions of the operator's console. */
export const operatorSessions: SessionTable<OperatorToken> = {
  async insert(store, operatorId, { sha256, startedAt, expiresAt, capAt }) {
    await store.writeDirectory([
      directoryStatement(
        `insert into operator_session (sha256, operator_id, started_at, used_at, expires_at, cap_at)
         values ($1, $2, $3, $3, $4, $5)`,
        [sha256, operatorId, startedAt, expiresAt, capAt],
      ),
      directoryStatement(
        `delete from operator_session where operator_id = $1 and sha256 in (
           select sha256 from operator_session where operator_id = $1 and sha256 <> $2
           order by used_at desc, sha256 limit 1000 offset $3)`,
        [operatorId, sha256, sessionsMax - 1],
      ),
    ]);
  },
  async find(store, sha256) {
    const [row] = await store.readDirectory(
      `select t.id, t.name, t.scopes, t.created_at, t.expires_at, t.last_used_at, t.revoked_at,
         s.started_at, s.used_at, s.expires_at as session_expires_at, s.cap_at
       from operator_session as s join operator_token as t on t.id = s.operator_id where s.sha256 = $1`,
      [sha256],
    );
    return row && { sha256, session: toSession(row), holder: toOperatorToken(row) };
  },
  async touch(store, sha256, { usedAt, expiresAt }) {
    const update = 'update operator_session set used_at = $2, expires_at = $3 where sha256 = $1';
    await writeOne(store, update, [sha256, usedAt, expiresAt]);
  },
  async end(store, { sha256 }) {
    return (
      (await writeOne(store, 'delete from operator_session where sha256 = $1 returning sha256', [sha256])).length === 1
    );
  },
};

const toSession = (row: Row): SessionRow => ({
  startedAt: Number(row.started_at),
  usedAt: Number(row.used_at),
  expiresAt: Number(row.session_expires_at),
  capAt: Number(row.cap_at),
  family: row.family == null ? null : String(row.family),
  revokedAt: row.session_revoked_at == null ? null : Number(row.session_revoked_at),
});

/** Removes the sessions that ended a day ago; each transaction removes a bounded number of rows. */
export async function deleteEndedOperatorSessions(store: Store, nowSeconds: number): Promise<number> {
  return inBatches(sweepRowsMax, async () => {
    const removed = await writeOne(
      store,
      `delete from operator_session where sha256 in (
         select sha256 from operator_session where expires_at < $1 limit $2)
       returning sha256`,
      [nowSeconds - retentionSeconds, sweepRowsMax],
    );
    return removed.length;
  });
}
