import { directoryStatement, type Store, type TenantReader } from '../store.ts';

/** A tenant's history as of a reader's snapshot. */
export interface TenantHistory {
  /** The newest revision. */
  readonly revision: number;
  /**
   * When the tenant was created, in UTC epoch seconds: distinguishes it from a tenant of the same
   * name in another store.
   */
  readonly createdAt: number;
  /**
   * Tombstones up to this revision are incomplete: a client's copy must be at a later revision to
   * be updated by changes.
   */
  readonly sweptRevision: number;
}

export async function readHistory(reader: TenantReader): Promise<TenantHistory> {
  const [row] = await reader.all(
    'select revision, created_at, swept_revision from (select id as tenant_id, revision, created_at, swept_revision from tenant) as t where tenant_id = $1',
  );
  const [revision, createdAt, sweptRevision] = [row?.revision, row?.created_at, row?.swept_revision].map((value) =>
    Number(value ?? 0),
  ) as [number, number, number];
  return { revision, createdAt, sweptRevision };
}

/** Revisions reserved per second: more than any store can commit. */
const revisionsPerSecond = 2 ** 21;

/** Above every revision that a tenant can have had so far. Fits into 2^53 until 2106. */
export const historyStart = (nowSeconds: number): number => nowSeconds * revisionsPerSecond;

/**
 * Begins a new history of every tenant after a restore. Its revisions start from the current time
 * (`historyStart`): no ETag and no cached response of the
 * discarded history matches the new one, and every change token of the discarded history is older
 * than the first revision that changes can be read from.
 *
 * Refresh tokens, sessions and operators' tokens are revoked, because the backup may contain some
 * that were revoked after it was made.
 *
 * @param above a revision of the replaced store, in case its clock was ahead
 */
export async function beginHistory(store: Store, nowSeconds: number, above = 0): Promise<void> {
  const [row] = await store.readDirectory('select max(revision) as revision from tenant');
  const revision = Math.max(historyStart(nowSeconds), above, Number(row?.revision ?? 0)) + 1;
  await store.writeDirectory(
    [
      directoryStatement('update tenant set revision = $1, swept_revision = $1', [revision]),
      directoryStatement('update refresh_family set revoked_at = $1 where revoked_at is null', [nowSeconds]),
      directoryStatement('update operator_token set revoked_at = $1 where revoked_at is null', [nowSeconds]),
      directoryStatement('delete from operator_session'),
    ],
    { announce: true },
  );
}
