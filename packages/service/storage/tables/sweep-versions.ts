import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store, TenantId } from '../store.ts';
import { noteRevisions, sweepNoted, tenantRanges } from './day-notes.ts';
import { dueDayOf } from './history.ts';

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

/**
 * Versions removed per transaction: some milliseconds, during which the tenant cannot be loaded.
 */
const batchRows = 500;

/**
 * Removes the versions of all tenants that ended before the retention, that the storage budget has
 * no room for, or that belong to a history that was discarded, in small transactions, and returns
 * how many were removed.
 *
 * The revision that a tenant had reached on a day (`day-notes.ts`) is the oldest one that stays
 * readable. A tenant whose records have changed without history, or before there was one, begins
 * its history now.
 */
export async function sweepVersions(store: Store, retention: VersionRetention): Promise<number> {
  const { nowSeconds, days, forgetsDays = false } = retention;
  await noteRevisions(store, { nowSeconds, beginsHistory: days > 0 });
  let removed = 0;
  for await (const { tenant, oldest } of days > 0 ? cutHistories(store) : allHistories(store))
    removed += await sweepTenant(store, tenant, oldest, retention);
  const noted = { of: 'versions', day: dueDayOf(retention), forgets: forgetsDays } as const;
  removed += await sweepNoted(store, noted, async (tenant, revision) => {
    const oldest = await dueRevision(store, tenant, revision, retention);
    return oldest === undefined ? 0 : sweepTenant(store, tenant, oldest, retention);
  });
  return removed;
}

interface DueTenant {
  readonly tenant: TenantId;
  /** The oldest revision that stays readable. */
  readonly oldest: number;
}

/** The tenants whose history begins after the swept versions. */
async function* cutHistories(store: Store): AsyncGenerator<DueTenant> {
  for (let after = ''; ; await nextTurn()) {
    const rows = await store.readDirectory(selectCut, [after, batchRows]);
    for (const { id, history_from: from } of rows) yield { tenant: id as TenantId, oldest: Number(from) };
    if (rows.length < batchRows) return;
    after = String(rows.at(-1)?.id);
  }
}

/** The tenants that have a history, if none is to be kept. */
async function* allHistories(store: Store): AsyncGenerator<DueTenant> {
  for await (const { after, last } of tenantRanges(store))
    for (const { id, revision } of await store.readDirectory(selectKept, [after, last]))
      yield { tenant: id as TenantId, oldest: Number(revision) };
}

/** The revision up to which a tenant is to be swept, if it has something to sweep. */
async function dueRevision(
  store: Store,
  tenant: TenantId,
  noted: number,
  { days }: VersionRetention,
): Promise<number | undefined> {
  const [row] = await store.readDirectory('select revision, history_from, history_swept from tenant where id = $1', [
    tenant,
  ]);
  if (row === undefined || row.history_from === null) return undefined;
  const oldest = Math.max(Number(days > 0 ? row.history_from : row.revision), noted);
  return oldest > Number(row.history_swept) ? oldest : undefined;
}

async function sweepTenant(
  store: Store,
  tenant: TenantId,
  oldest: number,
  retention: VersionRetention,
): Promise<number> {
  const fromSeconds = (dueDayOf(retention) + 1) * daySeconds;
  for (let removed = 0; ; await nextTurn()) {
    const sweep = { oldest, fromSeconds, keeps: retention.days > 0 };
    const { versions, isDone } = await store.sweepHistory(tenant, sweep, batchRows);
    removed += versions;
    if (isDone) return removed;
  }
}

/** Totals of the history of all tenants. */
export interface HistoryUse {
  /** As the changes of the tenants have added them up. */
  readonly versions: number;
  /** Tenants whose next sweep removes something. */
  readonly sweepsDue: number;
  /** The most bytes that a tenant is charged. */
  readonly mostBytes: number;
  /** By how many seconds the history of a tenant is later than the clock, the most of all. */
  readonly aheadSeconds: number;
}

export async function readHistoryUse(store: Store, retention: VersionRetention): Promise<HistoryUse> {
  const [sum] = await store.readDirectory(
    `select sum(history_rows) as n, max(case when history_revision = revision then history_at end) as last,
       max(charged_bytes) as most from tenant`,
  );
  const [due] = await (retention.days === 0
    ? store.readDirectory(countKept)
    : store.readDirectory(countDue, [dueDayOf(retention)]));
  return {
    versions: Number(sum?.n ?? 0),
    sweepsDue: Number(due?.n ?? 0),
    mostBytes: Number(sum?.most ?? 0),
    aheadSeconds: Math.max(0, Number(sum?.last ?? 0) - retention.nowSeconds),
  };
}

const selectCut = `select id, history_from from tenant where history_from > history_swept and id > $1
  order by id limit $2` as const;

const selectKept = `select id, revision from tenant
  where id > $1 and id <= $2 and history_from is not null and revision > history_swept order by id` as const;

const countKept =
  'select count(*) as n from tenant where history_from is not null and revision > history_swept' as const;

/** By the indexes of what is due; both are empty after a sweep. */
const countDue = `select count(distinct id) as n from (
    select r.tenant_id as id from tenant_revision as r join tenant as t on t.id = r.tenant_id
    where r.is_swept = 0 and r.day <= $1 and t.history_from is not null and r.revision > t.history_swept
    union all
    select id from tenant where history_from > history_swept
  ) as due` as const;
