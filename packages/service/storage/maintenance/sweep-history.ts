import { ask, type CountWork } from '../counts/count-work.ts';
import type { HistorySweep, HistorySwept, Row, TenantSql, TenantWriteSql } from '../store.ts';
import { dataBytes, rowBytes } from '../tables/storage-use.ts';

/**
 * Moves the start of a tenant's history, and removes some of the versions that ended before the new
 * start, in one transaction with the tenant locked.
 */
export function* sweepHistory({ oldest, fromSeconds, keeps }: HistorySweep, limit: number): CountWork<HistorySwept> {
  yield [keeps ? ask(moveStart, oldest, fromSeconds) : ask(endHistory)];
  const [versions = [], commits = [], erasures = []] = yield [
    ask(removeVersions, oldest, limit),
    ask(removeCommits, oldest, limit),
    ask(removeErasures, oldest, limit),
  ];
  const freed = bytesOf(versions) + commits.length * rowBytes.commit + erasures.length * rowBytes.erasure;
  if (freed > 0) yield [ask(subtract, versions.length, freed)];
  const isDone = Math.max(versions.length, commits.length, erasures.length) < limit;
  if (isDone) yield [ask(setSwept, oldest)];
  return { versions: versions.length, isDone };
}

const bytesOf = (versions: readonly Row[]): number =>
  versions.reduce((sum, { bytes }) => sum + Number(bytes) + rowBytes.version, 0);

const moveStart: TenantWriteSql = `update tenant set history_from_at = case when history_from < $2 then $3 else history_from_at end,
    history_from = case when history_from < $2 then $2 else history_from end where id = $1`;

const endHistory = 'update tenant set history_revision = null where id = $1';

const subtract: TenantWriteSql = `update tenant set history_rows = history_rows - $2, charged_bytes = charged_bytes - $3
  where id = $1`;

const setSwept: TenantWriteSql = `update tenant set history_swept = case when history_swept > $2 then history_swept else $2 end where id = $1`;

const removeVersions: TenantSql = `delete from subscription_version where tenant_id = $1 and (id, until_revision) in (
    select id, until_revision from subscription_version where tenant_id = $1 and until_revision <= $2
    order by until_revision limit $3
  ) returning ${dataBytes()} as bytes`;

/** Removes up to `$3` commit times of revisions before `$2`. */
export const removeCommits: TenantSql = `delete from subscription_commit where tenant_id = $1 and revision in (
    select revision from subscription_commit where tenant_id = $1 and revision < $2 order by revision limit $3
  ) returning revision`;

/** Forgets up to `$3` erased versions that ended up to revision `$2`. */
export const removeErasures: TenantSql = `delete from subscription_erasure where tenant_id = $1 and (id, until_revision) in (
    select id, until_revision from subscription_erasure where tenant_id = $1 and until_revision <= $2 limit $3
  ) returning until_revision`;
