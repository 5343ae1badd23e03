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

/** The days for which versions are kept: never longer than tombstones. */
export const versionDays = (settings: { readonly TOMBSTONE_DAYS: number; readonly HISTORY_DAYS: number }): number =>
  settings.TOMBSTONE_DAYS > 0 ? Math.min(settings.TOMBSTONE_DAYS, settings.HISTORY_DAYS) : settings.HISTORY_DAYS;

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
  await store.writeDirectory([
    directoryStatement(noteRevisions, [today]),
    ...(days > 0 ? [directoryStatement(beginMissing, [nowSeconds])] : []),
  ]);
  const dueDay = dueDayOf({ nowSeconds, days });
  const fromSeconds = (dueDay + 1) * daySeconds;
  let removed = 0;
  for (const { tenant, oldest } of await findDue(store, { nowSeconds, days }))
    removed += await sweepTenant(store, tenant, { oldest, fromSeconds, keeps: days > 0 });
  // the last one stays: what it says about quiet tenants still holds
  if (forgetsDays) await store.writeDirectory([directoryStatement(forgetDays, [dueDay - 1])]);
  return removed;
}

/** The newest day that is older than the retention as a whole, in days since 1970. */
const dueDayOf = ({ nowSeconds, days }: VersionRetention): number => Math.floor(nowSeconds / daySeconds) - days - 1;

/** The tenants that have something to sweep, each with the oldest revision that stays readable. */
async function findDue(store: Directory, retention: VersionRetention) {
  const rows = await store.readDirectory(selectHistories, [dueDayOf(retention)]);
  return rows.flatMap((row) => {
    const [from, swept, noted, revision] = [row.history_from, row.history_swept, row.noted, row.revision].map(Number);
    const oldest = retention.days === 0 || row.deleted_at !== null ? revision : Math.max(from ?? 0, noted ?? 0);
    return oldest === undefined || oldest <= (swept ?? 0) ? [] : [{ tenant: row.id as TenantId, oldest }];
  });
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
    const [, , versions = [], commits = [], erasures = []] = await store.writeTenant(tenant, [
      shorten, // it also locks the tenant, so that nothing else removes versions that are counted
      { sql: countDue, values: [oldest, batchRows] },
      { sql: removeVersions, values: [oldest, batchRows] },
      { sql: removeCommits, values: [oldest, batchRows] },
      { sql: removeErasures, values: [oldest, batchRows] },
    ]);
    removed += versions.length;
    if (Math.max(versions.length, commits.length, erasures.length) < batchRows) {
      await store.writeTenant(tenant, [{ sql: setSwept, values: [oldest] }]);
      return removed;
    }
    await nextTurn(); // let pending requests run first
  }
}

/** What the history of all tenants has. */
export interface HistoryUse {
  /** As the changes of the tenants have added them up. */
  readonly versions: number;
  /** Bytes of the versions' records, estimated from some of the tenant that has most. */
  readonly recordBytes: number;
  /** Tenants whose next sweep removes something. */
  readonly sweepsDue: number;
  /** By how many seconds the history of a tenant is later than the clock, the most of all. */
  readonly aheadSeconds: number;
}

export async function readHistoryUse(store: Store, retention: VersionRetention): Promise<HistoryUse> {
  const [sum] = await store.readDirectory(
    'select sum(history_rows) as n, max(case when history_revision = revision then history_at end) as last from tenant',
  );
  const [most] = await store.readDirectory(
    'select id from tenant where history_rows > 0 order by history_rows desc limit 1',
  );
  const versions = Number(sum?.n ?? 0);
  const aheadSeconds = Math.max(0, Number(sum?.last ?? 0) - retention.nowSeconds);
  const { length: sweepsDue } = await findDue(store, retention);
  if (most === undefined) return { versions, recordBytes: 0, sweepsDue, aheadSeconds };
  const read = { sql: meanBytes, values: [] };
  const [[mean] = []] = await store.readTenantOnce(most.id as TenantId, [read], { isBounded: true });
  return { versions, recordBytes: versions * Number(mean?.n ?? 0), sweepsDue, aheadSeconds };
}

/** The mean of the newest 100 versions. */
const meanBytes: TenantSql = `select avg(octet_length(record)) as n from (
    select record from subscription_version where tenant_id = $1 order by until_revision desc limit 100
  ) as newest`;

/**
 * A tenant without changes has no revision that a change could have added to its history. It begins
 * after this second, of which an instant of a discarded history may have been answered.
 */
const beginMissing = `update tenant set history_from = revision, history_from_at = $1 + 1, history_revision = revision, history_at = $1
  where deletion_started_at is null and (history_revision is null or history_revision <> revision)`;

const selectHistories = `select t.id, t.revision, t.history_from, t.history_swept, t.deleted_at, max(r.revision) as noted
  from tenant as t left join tenant_revision as r on r.tenant_id = t.id and r.day <= $1
  where t.history_from is not null
  group by t.id, t.revision, t.history_from, t.history_swept, t.deleted_at order by t.id`;

/** The tenant as a table with `tenant_id`. */
const itself = 'id in (select tenant_id from (select id as tenant_id from tenant) as t where tenant_id = $1)' as const;

const moveStart: TenantSql = `update tenant set history_from_at = case when history_from < $2 then $3 else history_from_at end,
    history_from = case when history_from < $2 then $2 else history_from end where ${itself} returning id`;

const endHistory: TenantSql = `update tenant set history_revision = null where ${itself} returning id`;

/** Subtracts the versions that `removeVersions` is about to remove. */
const countDue: TenantSql = `update tenant set history_rows = history_rows - (select count(*) from (
    select id from subscription_version where tenant_id = $1 and until_revision <= $2 limit $3
  ) as due) where ${itself} returning id`;

const setSwept: TenantSql = `update tenant set
  history_swept = case when history_swept > $2 then history_swept else $2 end where ${itself} returning id`;

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
