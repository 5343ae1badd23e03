import { directoryStatement, type Store } from '../store.ts';
import { type OperatorToken, toOperatorToken } from './operator-token.ts';

/** A session of the operator's console. Times are UTC epoch seconds. */
export interface OperatorSessionRow {
  /** When it was last used, to the minute. */
  readonly usedAt: number;
  /** When it ends unless it is used. */
  readonly expiresAt: number;
  /** When it ends, however often it is used. */
  readonly capAt: number;
}

/** Sessions of an operator's token at once; the least recently used ones end. */
const sessionsMax = 100;

/** How long a row is kept after its end, in seconds, so that the page can say why it ended. */
const retentionSeconds = 86_400;

const sweepRowsMax = 500;

/** Inserts a session that begins with the SHA-256 of its id. */
export async function insertOperatorSession(
  store: Store,
  operatorId: string,
  sha256: string,
  { usedAt, expiresAt, capAt }: OperatorSessionRow,
): Promise<void> {
  await store.writeDirectory([
    directoryStatement(
      `insert into operator_session (sha256, operator_id, started_at, used_at, expires_at, cap_at)
       values ($1, $2, $3, $3, $4, $5)`,
      [sha256, operatorId, usedAt, expiresAt, capAt],
    ),
    directoryStatement(
      `delete from operator_session where operator_id = $1 and sha256 in (
         select sha256 from operator_session where operator_id = $1 and sha256 <> $2
         order by used_at desc, sha256 limit 1000 offset $3)`,
      [operatorId, sha256, sessionsMax - 1],
    ),
  ]);
}

/** The session with this SHA-256 and its token, even if it has ended, or `undefined`. */
export async function findOperatorSession(
  store: Store,
  sha256: string,
): Promise<{ readonly session: OperatorSessionRow; readonly token: OperatorToken } | undefined> {
  const [row] = await store.readDirectory(
    `select t.id, t.name, t.scopes, t.created_at, t.expires_at, t.last_used_at, t.revoked_at,
       s.used_at, s.expires_at as session_expires_at, s.cap_at
     from operator_session as s join operator_token as t on t.id = s.operator_id where s.sha256 = $1`,
    [sha256],
  );
  if (row === undefined) return undefined;
  const session = {
    usedAt: Number(row.used_at),
    expiresAt: Number(row.session_expires_at),
    capAt: Number(row.cap_at),
  };
  return { session, token: toOperatorToken(row) };
}

/** Records the use of a session. */
export async function touchOperatorSession(
  store: Store,
  sha256: string,
  { usedAt, expiresAt }: Pick<OperatorSessionRow, 'usedAt' | 'expiresAt'>,
): Promise<void> {
  await store.writeDirectory([
    directoryStatement('update operator_session set used_at = $2, expires_at = $3 where sha256 = $1', [
      sha256,
      usedAt,
      expiresAt,
    ]),
  ]);
}

/** Removes a session; returns `false` if there was none. */
export async function deleteOperatorSession(store: Store, sha256: string): Promise<boolean> {
  const [deleted] = await store.writeDirectory([
    directoryStatement('delete from operator_session where sha256 = $1 returning sha256', [sha256]),
  ]);
  return deleted?.length === 1;
}

/** Removes the sessions that ended a day ago; each transaction removes a bounded number of rows. */
export async function deleteEndedOperatorSessions(store: Store, nowSeconds: number): Promise<void> {
  for (let removed = sweepRowsMax; removed === sweepRowsMax; ) {
    const [rows] = await store.writeDirectory([
      directoryStatement(
        `delete from operator_session where sha256 in (
           select sha256 from operator_session where expires_at < $1 limit $2)
         returning sha256`,
        [nowSeconds - retentionSeconds, sweepRowsMax],
      ),
    ]);
    removed = rows?.length ?? 0;
  }
}
