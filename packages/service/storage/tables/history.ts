import { directoryStatement, type Store, type TenantReader } from '../store.ts';
import { noteRevisions, sweepNoted } from './day-notes.ts';
import { inBatches } from './in-batches.ts';
import { isHistoryKept } from './revision.ts';

/** A tenant's history as of a reader's snapshot. */
export interface TenantHistory {
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
  /** The past that can be read; absent if only the present can. Times are UTC epoch seconds. */
  readonly kept?: {
    /** The oldest revision that can be read, and since when it was current at the latest. */
    readonly from: number;
    readonly fromSeconds: number;
    /** When the tenant's revision was committed. */
    readonly lastSeconds: number;
  };
}

export async function readHistory(reader: TenantReader): Promise<TenantHistory> {
  const [row] = await reader.all(
    `select * from (
       select id as tenant_id, revision, created_at, swept_revision,
         history_from, history_from_at, history_revision, history_at from tenant
     ) as t where tenant_id = $1`,
  );
  const numberOf = (name: string): number => Number(row?.[name] ?? 0);
  const kept = {
    from: numberOf('history_from'),
    fromSeconds: numberOf('history_from_at'),
    lastSeconds: numberOf('history_at'),
  };
  return {
    revision: numberOf('revision'),
    createdAt: numberOf('created_at'),
    sweptRevision: numberOf('swept_revision'),
    ...(row !== undefined && isHistoryKept(row) && { kept }),
  };
}

/** Revisions reserved per second: more than any store can commit. */
const revisionsPerSecond = 2 ** 21;

/** Above every revision that a tenant can have had so far. Fits into 2^53 until 2106. */
export const historyStart = (nowSeconds: number): number => nowSeconds * revisionsPerSecond;

/**
 * Begins a new history of every tenant after a restore. Its revisions start from the current time
 * (`historyStart`): no ETag of the discarded history matches the new one, and every change token of
 * the discarded history is older than the first revision that changes can be read from.
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

/** How long tombstones are retained. */
interface TombstoneRetention {
  readonly nowSeconds: number;
  /** Whole days. */
  readonly days: number;
}

const daySeconds = 86_400;

/**
 * Tombstones removed per transaction: some milliseconds, during which the tenant cannot be loaded.
 */
const batchRows = 1_000;

/**
 * Removes the tombstones of all tenants that are older than the retention, in small transactions,
 * and returns how many were removed.
 *
 * Tombstones have no timestamp. The revision that a tenant had reached on a day is recorded if it
 * has changed (`day-notes.ts`); tombstones up to it were created on that day or before. So a
 * tombstone is retained up to a day longer than the retention.
 */
export async function sweepTombstones(store: Store, retention: TombstoneRetention): Promise<number> {
  await noteRevisions(store, { nowSeconds: retention.nowSeconds, beginsHistory: false });
  return sweepNoted(store, { of: 'tombstones', day: dueDayOf(retention), forgets: true }, (tenant, revision) =>
    inBatches(batchRows, () => store.sweepTombstones(tenant, revision, batchRows)),
  );
}

/** The newest day that is older than the retention as a whole, in days since 1970. */
export const dueDayOf = ({ nowSeconds, days }: TombstoneRetention): number =>
  Math.floor(nowSeconds / daySeconds) - days - 1;
