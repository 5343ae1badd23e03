import { directoryStatement, type Store, type TenantReader } from '../store.ts';

/** A tenant's history at the moment that a reader sees. */
export interface TenantHistory {
  /** The newest revision. */
  readonly revision: number;
  /**
   * When the tenant was made, in UTC epoch seconds: tells it from one of the same name in another
   * store.
   */
  readonly createdAt: number;
  /**
   * Tombstones up to this revision are not complete: a copy must have been in step with a later
   * one.
   */
  readonly sweptRevision: number;
}

/** Reads how far a tenant's history has come. */
export async function readHistory(reader: TenantReader): Promise<TenantHistory> {
  const [row] = await reader.all(
    'select revision, created_at, swept_revision from (select id as tenant_id, revision, created_at, swept_revision from tenant) as t where tenant_id = $1',
  );
  const [revision, createdAt, sweptRevision] = [row?.revision, row?.created_at, row?.swept_revision].map((value) =>
    Number(value ?? 0),
  ) as [number, number, number];
  return { revision, createdAt, sweptRevision };
}

/** Revisions of one second: more than any store can commit in it. */
const revisionsPerSecond = 2 ** 21;

/**
 * Begins a new history of every tenant, after a restore. Its revisions begin with the time, above
 * every revision that the tenant can have had: no ETag and no cached response of the lost history
 * matches one of the new history, and each change token of the lost history lies before the first
 * revision that changes can be read from. Fits into 2^53 until 2106.
 *
 * Refresh tokens are revoked: one that was revoked after the backup was made must not come back to
 * life.
 *
 * @param above a revision of the replaced store, in case that its clock was ahead
 */
export async function beginHistory(store: Store, nowSeconds: number, above = 0): Promise<void> {
  const [row] = await store.readDirectory('select max(revision) as revision from tenant');
  const revision = Math.max(nowSeconds * revisionsPerSecond, above, Number(row?.revision ?? 0)) + 1;
  await store.writeDirectory(
    [
      directoryStatement('update tenant set revision = $1, swept_revision = $1', [revision]),
      directoryStatement('update refresh_family set revoked_at = $1 where revoked_at is null', [nowSeconds]),
    ],
    { announce: true },
  );
}
