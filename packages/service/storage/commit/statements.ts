import { countedNames, countedOf, newCountedOf } from '../counts/counted-row.ts';
import type { TenantSql, TenantWriteSql } from '../store.ts';
import { assignColumns, columnNames, versionColumns } from '../subscription-row.ts';
import { revisionColumns } from '../tables/revision.ts';

// The statements of a commit, in the order in which they run, of the tenant `$1` on both engines.
// Behind the requests `lock`, `store` and `compare`, each engine has its own (`run-change.ts`), and
// the counts have theirs. Citus sends a statement to the node of its tenant only if that statement
// inserts once, outside a `with`, and takes the tenant of the rows that it reads
// (docs/operators/citus.md). So each of these changes one table.

// What a load reads first

export const selectAnyTombstone: TenantSql =
  'select 1 as found from subscription_tombstone where tenant_id = $1 limit 1';

/** The key of the tenant's last row, as `created_date` and `id`. */
export const selectLastKey: TenantSql =
  'select created_date, id from subscription where tenant_id = $1 order by created_date desc, id desc limit 1';

// Versions, rows and tombstones of ids

/** Removes the tombstones of rows that exist again. */
export const reviveRows: TenantSql =
  'delete from subscription_tombstone where tenant_id = $1 and id = any($2::text[]) returning id';

/** Removes up to `$3` tombstones with a revision up to `$2`. */
export const removeOldTombstones: TenantSql = `delete from subscription_tombstone where tenant_id = $1 and id in (
    select id from subscription_tombstone where tenant_id = $1 and revision <= $2 order by revision, id limit $3
  ) returning id`;

// Versions, rows and tombstones of a staged load, from its temporary tables

export const keepReplaced: TenantSql = `insert into subscription_version (${versionColumns})
  select s.tenant_id, cast($2 as bigint), s.revision, ${columnNames('s')} from subscription as s where s.tenant_id = $1
    and s.id = any(array(select id from changed where not is_new union all select id from removed)) and s.revision < $2
  on conflict (tenant_id, id, until_revision) do nothing`;

export const writeReplaced: TenantWriteSql = `insert into subscription (tenant_id, revision, ${columnNames()})
  select $1, cast($2 as bigint), ${columnNames('t')}
  from changed as c cross join staged as t where t.id = c.id order by t.created_date, t.id
  on conflict (tenant_id, id) do update set ${assignColumns}, revision = excluded.revision`;

export const removeReplaced: TenantSql =
  'delete from subscription where tenant_id = $1 and id = any(array(select id from removed))';

export const buryReplaced: TenantWriteSql = `insert into subscription_tombstone (tenant_id, id, revision)
  select $1, id, cast($2 as bigint) from removed where true
  on conflict (tenant_id, id) do update set revision = excluded.revision`;

export const reviveReplaced: TenantSql =
  'delete from subscription_tombstone where tenant_id = $1 and id = any(array(select id from changed where is_new)) returning id';

/** The number of rows of each temporary table, and their bytes. */
export const countDifferences = `select (select count(*) from staged) as staged, (select count(*) from changed) as changed,
  (select count(*) from changed where is_new) as inserted, (select count(*) from removed) as removed,
  (select coalesce(sum(bytes_before), 0) from changed) + (select coalesce(sum(bytes_before), 0) from removed) as bytes_before,
  (select coalesce(sum(bytes_after), 0) from changed) as bytes_after`;

/** The changed rows, as `toRowChange` reads them. */
export const readReplaced = `select c.id, not c.is_new as was, ${countedOf('c')}, true as stays, ${newCountedOf('t')}
  from changed as c cross join staged as t where t.id = c.id
  union all
  select id, true, ${countedNames.join(', ')}, false, ${countedNames.map(() => 'null').join(', ')} from removed`;

// Room and the revision

/** Says that tombstones up to `$2` are no longer complete. */
export const setSweptRevision: TenantWriteSql =
  'update tenant set swept_revision = case when swept_revision > $2 then swept_revision else $2 end where id = $1';

export const setRevision: TenantWriteSql = `update tenant set revision = $2, history_rows = history_rows + $3,
  charged_bytes = charged_bytes + $4 where id = $1 returning ${revisionColumns}`;

export const setKeptRevision: TenantWriteSql = `update tenant set revision = $2, history_rows = history_rows + $3,
  charged_bytes = charged_bytes + $4, history_from = $5, history_from_at = $6, history_revision = $2, history_at = $7
  where id = $1 returning ${revisionColumns}`;

/** A commit that a lost revision has left is replaced. */
export const insertCommit: TenantWriteSql = `insert into subscription_commit (tenant_id, revision, committed_at, import_id)
  values ($1, $2, $3, $4) on conflict (tenant_id, revision) do update set committed_at = excluded.committed_at,
  import_id = excluded.import_id`;
