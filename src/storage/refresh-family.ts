import { directoryStatement, type Row, type Store } from './store.ts';

/** One row for all generations of a refresh token (RFC 9700 §4.14.2). Times are UTC epoch seconds. */
export interface RefreshFamily {
  readonly id: string;
  readonly clientId: string;
  /** Space-separated scopes that were granted; a narrower refresh does not change them (RFC 6749 §6). */
  readonly scope: string;
  /** Generation of the one refresh token that is alive, from 1. */
  readonly generation: number;
  readonly rotatedAt: number;
  /** When the living token ends unless it is used before. */
  readonly expiresAt: number;
  /** When the whole family ends, however often it is used. */
  readonly capAt: number;
  readonly revokedAt: number | null;
}

/** Starts a family. With `familiesMax`, of those that the client has already only the ones used last stay, so that so many live at once. */
export async function insertRefreshFamily(store: Store, family: RefreshFamily, familiesMax?: number): Promise<void> {
  const { clientId, id, scope, generation, rotatedAt, expiresAt, capAt } = family;
  const insert = directoryStatement(
    `insert into refresh_family (client_id, id, scope, generation, rotated_at, expires_at, cap_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [clientId, id, scope, generation, rotatedAt, expiresAt, capAt],
  );
  if (familiesMax === undefined) {
    await store.writeDirectory([insert]);
    return;
  }
  const trim = directoryStatement(
    `delete from refresh_family where client_id = $1 and id in (
       select id from refresh_family where client_id = $1 and id <> $2 and revoked_at is null
       order by rotated_at desc, id limit 1000 offset $3)`,
    [clientId, id, familiesMax - 1],
  );
  await store.writeDirectory([insert, trim]);
}

/**
 * Moves a family from one generation to the next in one statement, so that of many at once exactly one succeeds: the family as it then is, or
 * `undefined` when this generation is not the living one, or the family is over.
 */
export async function rotateRefreshFamily(
  store: Store,
  key: { clientId: string; id: string; generation: number },
  nowSeconds: number,
  expiresAt: number,
): Promise<RefreshFamily | undefined> {
  const [rows] = await store.writeDirectory([
    directoryStatement(
      `update refresh_family set generation = generation + 1, rotated_at = $4,
         expires_at = case when cap_at < $5 then cap_at else $5 end
       where client_id = $1 and id = $2 and generation = $3 and revoked_at is null and expires_at > $4
       returning client_id, id, scope, generation, rotated_at, expires_at, cap_at, revoked_at`,
      [key.clientId, key.id, key.generation, nowSeconds, expiresAt],
    ),
  ]);
  return rows?.[0] === undefined ? undefined : toFamily(rows[0]);
}

/** The family of an id, over or not, or `undefined`. */
export async function findRefreshFamily(
  store: Store,
  clientId: string,
  id: string,
): Promise<RefreshFamily | undefined> {
  const [row] = await store.readDirectory(
    `select client_id, id, scope, generation, rotated_at, expires_at, cap_at, revoked_at
     from refresh_family where client_id = $1 and id = $2`,
    [clientId, id],
  );
  return row === undefined ? undefined : toFamily(row);
}

/** Ends a family for good. */
export async function revokeRefreshFamily(
  store: Store,
  clientId: string,
  id: string,
  nowSeconds: number,
): Promise<void> {
  await store.writeDirectory(
    [
      directoryStatement(
        'update refresh_family set revoked_at = $3 where client_id = $1 and id = $2 and revoked_at is null',
        [clientId, id, nowSeconds],
      ),
    ],
    { announce: true },
  );
}

/** Ends all families of a client for good. */
export async function revokeRefreshFamilies(store: Store, clientId: string, nowSeconds: number): Promise<void> {
  await store.writeDirectory(
    [
      directoryStatement('update refresh_family set revoked_at = $2 where client_id = $1 and revoked_at is null', [
        clientId,
        nowSeconds,
      ]),
    ],
    { announce: true },
  );
}

/** Ids of the families that were revoked after a moment: their access tokens may not have ended yet. */
export async function listRevokedFamilies(store: Store, afterSeconds: number): Promise<ReadonlySet<string>> {
  const rows = await store.readDirectory('select id from refresh_family where revoked_at > $1', [afterSeconds]);
  return new Set(rows.map(({ id }) => String(id)));
}

/** Removes the families that ended before a moment, so that the table does not grow for ever. */
export async function deleteDeadFamilies(store: Store, beforeSeconds: number): Promise<void> {
  await store.writeDirectory([
    directoryStatement('delete from refresh_family where cap_at < $1 or expires_at < $1', [beforeSeconds]),
  ]);
}

function toFamily(row: Row): RefreshFamily {
  return {
    id: String(row.id),
    clientId: String(row.client_id),
    scope: String(row.scope),
    generation: Number(row.generation),
    rotatedAt: Number(row.rotated_at),
    expiresAt: Number(row.expires_at),
    capAt: Number(row.cap_at),
    revokedAt: row.revoked_at === null ? null : Number(row.revoked_at),
  };
}
