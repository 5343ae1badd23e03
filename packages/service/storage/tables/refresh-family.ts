import { type Directory, directoryStatement, type Row, type Store } from '../store.ts';
import { inBatches } from './in-batches.ts';
import { writeOne } from './write-one.ts';

/**
 * One row for all generations of a refresh token (RFC 9700 §4.14.2). Times are UTC epoch seconds.
 */
export interface RefreshFamily {
  readonly id: string;
  readonly clientId: string;
  /** Space-separated granted scopes; a narrower refresh does not change them (RFC 6749 §6). */
  readonly scope: string;
  /** Generation of the newest refresh token, from 1. */
  readonly generation: number;
  readonly startedAt: number;
  readonly rotatedAt: number;
  /**
   * When the newest refresh token expires unless it is used; 0 for a family removed by the limit.
   */
  readonly expiresAt: number;
  /** When the whole family expires, however often it is used. */
  readonly capAt: number;
  readonly revokedAt: number | null;
}

/** The use of a refresh token. Times are UTC epoch seconds. */
interface RefreshUse {
  readonly clientId: string;
  readonly id: string;
  readonly generation: number;
  readonly nowSeconds: number;
  /** When the next refresh token expires, unless the family expires first. */
  readonly expiresAt: number;
  /** When the access token that is issued with it expires. */
  readonly accessEndsAt: number;
  /** Families of the client that began up to this time are revoked. */
  readonly revokedUntil: number | null;
  /** Whether an older generation is as valid as the newest one. */
  readonly reuse: boolean;
}

/**
 * Time for which a family is retained after its last access token expires, in seconds: another
 * token may have been issued in its grace period (at most 300 s).
 */
const retentionSeconds = 360;

const sweepRowsMax = 500;

/**
 * Inserts a new family. With `familiesMax`, only that many families of the client, those used last,
 * can still be refreshed; access tokens of the others stay valid, and their rows are retained so
 * that they can be revoked. Sessions of the console have their own limit.
 */
export async function insertRefreshFamily(
  store: Store,
  family: RefreshFamily & { readonly accessEndsAt: number },
  familiesMax?: number,
): Promise<void> {
  const { clientId, id, scope, generation, startedAt, rotatedAt, expiresAt, capAt, accessEndsAt } = family;
  // inserts no row if the client was deleted meanwhile
  const insert = directoryStatement(
    `insert into refresh_family (client_id, id, scope, generation, started_at, rotated_at, expires_at, cap_at, access_ends_at)
     select client_id, $2, $3, $4, $5, $6, $7, $8, $9 from client where client_id = $1`,
    [clientId, id, scope, generation, startedAt, rotatedAt, expiresAt, capAt, accessEndsAt],
  );
  if (familiesMax === undefined) {
    await store.writeDirectory([insert]);
    return;
  }
  const trim = directoryStatement(
    `update refresh_family set expires_at = 0 where client_id = $1 and id in (
       select id from refresh_family where client_id = $1 and id <> $2 and revoked_at is null and expires_at > 0
         and session_sha256 is null
       order by rotated_at desc, id limit 1000 offset $3)`,
    [clientId, id, familiesMax - 1],
  );
  await store.writeDirectory([insert, trim]);
}

/**
 * Moves a family from one generation to the next in one statement, so that exactly one of several
 * concurrent requests succeeds (all of them with `reuse`). Returns the updated family, or
 * `undefined` if the generation is not the newest one or the family is expired or revoked.
 */
export async function rotateRefreshFamily(store: Store, use: RefreshUse): Promise<RefreshFamily | undefined> {
  const [row] = await writeOne(
    store,
    `update refresh_family set generation = generation + 1, rotated_at = $4,
       expires_at = case when cap_at < $5 then cap_at else $5 end,
       access_ends_at = case when access_ends_at > $6 then access_ends_at else $6 end
     where client_id = $1 and id = $2 and (generation = $3 or (generation > $3 and cast($8 as bigint) = 1))
       and revoked_at is null and expires_at > $4 and started_at > $7
     returning client_id, id, scope, generation, started_at, rotated_at, expires_at, cap_at, revoked_at`,
    [
      ...[use.clientId, use.id, use.generation, use.nowSeconds, use.expiresAt, use.accessEndsAt],
      ...[use.revokedUntil ?? -1, use.reuse ? 1 : 0],
    ],
  );
  return row && toFamily(row);
}

/** The family with this id, even if expired or revoked, or `undefined`. */
export async function findRefreshFamily(
  store: Store,
  clientId: string,
  id: string,
): Promise<RefreshFamily | undefined> {
  const [row] = await store.readDirectory(
    `select client_id, id, scope, generation, started_at, rotated_at, expires_at, cap_at, revoked_at
     from refresh_family where client_id = $1 and id = $2`,
    [clientId, id],
  );
  return row === undefined ? undefined : toFamily(row);
}

/** The families of a client that can be refreshed, most recently used first. */
export async function listLiveFamilies(
  store: Directory,
  clientId: string,
  nowSeconds: number,
): Promise<readonly RefreshFamily[]> {
  const rows = await store.readDirectory(
    `select client_id, id, scope, generation, started_at, rotated_at, expires_at, cap_at, revoked_at
     from refresh_family where client_id = $1 and revoked_at is null and expires_at > 0 and expires_at > $2
     order by rotated_at desc, id`,
    [clientId, nowSeconds],
  );
  return rows.map(toFamily);
}

/**
 * Revokes a family and its access tokens permanently; returns `false` if there was none to revoke.
 */
export async function revokeRefreshFamily(
  store: Directory,
  clientId: string,
  id: string,
  nowSeconds: number,
): Promise<boolean> {
  const revoked = await writeOne(
    store,
    'update refresh_family set revoked_at = $3 where client_id = $1 and id = $2 and revoked_at is null returning id',
    [clientId, id, nowSeconds],
    { announce: true },
  );
  return revoked.length === 1;
}

/**
 * Removes the families that can no longer be refreshed and whose last access token has expired, so
 * that the table does not grow without bound; each transaction removes a bounded number of rows.
 */
export async function deleteDeadFamilies(store: Store, nowSeconds: number): Promise<number> {
  return inBatches(sweepRowsMax, async () => {
    const removed = await writeOne(
      store,
      `delete from refresh_family where (client_id, id) in (
         select client_id, id from refresh_family
         where expires_at < $1 and access_ends_at < $2 limit $3)
       returning id`,
      [nowSeconds, nowSeconds - retentionSeconds, sweepRowsMax],
    );
    return removed.length;
  });
}

function toFamily(row: Row): RefreshFamily {
  return {
    id: String(row.id),
    clientId: String(row.client_id),
    scope: String(row.scope),
    generation: Number(row.generation),
    startedAt: Number(row.started_at),
    rotatedAt: Number(row.rotated_at),
    expiresAt: Number(row.expires_at),
    capAt: Number(row.cap_at),
    revokedAt: row.revoked_at === null ? null : Number(row.revoked_at),
  };
}
