import { setImmediate as nextTurn } from 'node:timers/promises';
import { directoryStatement, type Store, type TenantId } from '../store.ts';

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
 * Tombstones have no timestamp. Each day the revision of every tenant is recorded; tombstones up to
 * the revision recorded for a day were created on that day or before. So a tombstone is retained up
 * to a day longer than the retention.
 */
export async function sweepTombstones(store: Store, { nowSeconds, days }: TombstoneRetention): Promise<number> {
  const today = Math.floor(nowSeconds / daySeconds);
  const dueDay = today - days - 1; // the whole of that day is older than the retention
  await store.writeDirectory([directoryStatement(noteRevisions, [today])]);
  const due = await store.readDirectory(selectDue, [dueDay]);
  let removed = 0;
  for (const { tenant_id, revision } of due)
    removed += await sweepTenant(store, tenant_id as TenantId, Number(revision));
  if (due.length > 0) await store.writeDirectory([directoryStatement(forgetDays, [dueDay])]);
  return removed;
}

async function sweepTenant(store: Store, tenant: TenantId, revision: number): Promise<number> {
  for (let removed = 0; ; ) {
    const batch = await store.sweepTombstones(tenant, revision, batchRows);
    removed += batch;
    if (batch < batchRows) return removed;
    await nextTurn(); // let pending requests run first
  }
}

const noteRevisions = `insert into tenant_revision (tenant_id, day, revision)
  select id, cast($1 as bigint), revision from tenant where deletion_started_at is null on conflict do nothing`;

const selectDue =
  'select tenant_id, max(revision) as revision from tenant_revision where day <= $1 group by tenant_id order by tenant_id';

const forgetDays = 'delete from tenant_revision where day <= $1';

/** Removes up to `$3` tombstones with a revision up to `$2`; returns the id of each. */
export const removeOldTombstones = `delete from subscription_tombstone where tenant_id = $1 and id in (
    select id from subscription_tombstone where tenant_id = $1 and revision <= $2 order by revision, id limit $3
  ) returning id`;

/** Sets the revision to `$2` and records that tombstones up to `$3` are no longer complete. */
export const setSweptRevision = `update tenant set revision = $2,
  swept_revision = case when swept_revision > $3 then swept_revision else $3 end where id = $1`;
