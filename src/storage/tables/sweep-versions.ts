import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Directory, directoryStatement, type Store, type TenantId, type TenantSql } from '../store.ts';
import { forgetDays, noteRevisions } from './history.ts';

/** How long former versions of records are kept. */
interface VersionRetention {
  readonly nowSeconds: number;
  /** Whole days; 0 keeps none. */
  readonly days: number;
  /** Whether days that have passed are forgotten; otherwise `sweepTombstones` does it. */
  readonly forgetsDays?: boolean;
}

const daySeconds = 86_400;

/** Versions removed per transaction: some milliseconds, also on the main thread of SQLite. */
const batchRows = 500;

/**
 * Removes the versions of all tenants that ended before the retention, or that belong to a history
 * that was discarded, in small transactions, and returns how many were removed.
 *
 * The revision that a tenant had reached on a day (`sweepTombstones`) is the oldest one that stays
 * readable. A tenant whose records have changed without history, or before there was one, begins
 * its history now.
 */
export async function sweepVersions(
  store: Store,
  { nowSeconds, days, forgetsDays = false }: VersionRetention,
): Promise<number> {
  const today = Math.floor(nowSeconds / daySeconds);
  const dueDay = today - days - 1; // the whole of that day is older than the retention
  await store.writeDirectory([
    directoryStatement(noteRevisions, [today]),
    ...(days > 0 ? [directoryStatement(beginMissing, [nowSeconds])] : []),
  ]);
  let removed = 0;
  for (const row of await store.readDirectory(selectHistories, [dueDay])) {
    const [from, swept, noted, revision] = [row.history_from, row.history_swept, row.noted, row.revision].map(Number);
    const oldest = days === 0 || row.deleted_at !== null ? revision : Math.max(from ?? 0, noted ?? 0);
    if (oldest === undefined || oldest <= (swept ?? 0)) continue;
    const fromSeconds = (dueDay + 1) * daySeconds;
    removed += await sweepTenant(store, row.id as TenantId, { oldest, fromSeconds, keeps: days > 0 });
  }
  // the last one stays: what it says about quiet tenants still holds
  if (forgetsDays) await store.writeDirectory([directoryStatement(forgetDays, [dueDay - 1])]);
  return removed;
}

interface TenantSweep {
  /** The oldest revision that stays readable, and since when it is at the latest. */
  readonly oldest: number;
  readonly fromSeconds: number;
  /** Whether there is a history from then on. */
  readonly keeps: boolean;
}

async function sweepTenant(
  store: Store,
  tenant: TenantId,
  { oldest, fromSeconds, keeps }: TenantSweep,
): Promise<number> {
  const shorten = keeps ? { sql: moveStart, values: [oldest, fromSeconds] } : { sql: endHistory, values: [] };
  for (let removed = 0; ; ) {
    const [, versions = [], commits = [], erasures = []] = await store.writeTenant(tenant, [
      shorten,
      { sql: removeVersions, values: [oldest, batchRows] },
      { sql: removeCommits, values: [oldest, batchRows] },
      { sql: removeErasures, values: [oldest, batchRows] },
    ]);
    removed += versions.length;
    const isLast = Math.max(versions.length, commits.length, erasures.length) < batchRows;
    await store.writeTenant(tenant, [{ sql: countRemoved, values: [versions.length, isLast ? oldest : 0] }]);
    if (isLast) return removed;
    await nextTurn(); // let pending requests run first
  }
}

/** The versions of all tenants, as their changes have added them up. */
export async function countVersions(store: Directory): Promise<number> {
  const [row] = await store.readDirectory('select sum(history_rows) as n from tenant');
  return Number(row?.n ?? 0);
}

/** A tenant without changes has no revision that a change could have added to its history. */
const beginMissing = `update tenant set history_from = revision, history_from_at = $1, history_revision = revision, history_at = $1
  where deletion_started_at is null and (history_revision is null or history_revision <> revision)`;

const selectHistories = `select t.id, t.revision, t.history_from, t.history_swept, t.deleted_at, max(r.revision) as noted
  from tenant as t left join tenant_revision as r on r.tenant_id = t.id and r.day <= $1
  where t.history_from is not null
  group by t.id, t.revision, t.history_from, t.history_swept, t.deleted_at order by t.id`;

/** The tenant as a table with `tenant_id`. */
const itself = 'id in (select tenant_id from (select id as tenant_id from tenant) as t where tenant_id = $1)' as const;

const moveStart: TenantSql = `update tenant set history_from = $2, history_from_at = $3
  where ${itself} and history_from < $2 returning id`;

const endHistory: TenantSql = `update tenant set history_revision = null where ${itself} returning id`;

const countRemoved: TenantSql = `update tenant set history_rows = history_rows - $2,
  history_swept = case when history_swept > $3 then history_swept else $3 end where ${itself} returning id`;

const removeVersions = `delete from subscription_version where tenant_id = $1 and (id, until_revision) in (
    select id, until_revision from subscription_version where tenant_id = $1 and until_revision <= $2
    order by until_revision limit $3
  ) returning id`;

const removeCommits = `delete from subscription_commit where tenant_id = $1 and revision in (
    select revision from subscription_commit where tenant_id = $1 and revision < $2 order by revision limit $3
  ) returning revision`;

const removeErasures = `delete from subscription_erasure where tenant_id = $1 and (from_revision, until_revision) in (
    select from_revision, until_revision from subscription_erasure where tenant_id = $1 and until_revision <= $2 limit $3
  ) returning n`;
