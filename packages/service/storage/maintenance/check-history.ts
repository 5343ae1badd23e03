import type { TenantReader, TenantSql } from '../store.ts';

// What cannot be true in a tenant's revisions, tombstones and former versions.

/** Most sentences of one check; a store with more is repaired, not read about. */
const problemsMax = 100;

/** Finds what cannot be true; one sentence each. */
export async function checkHistory(reader: TenantReader): Promise<readonly string[]> {
  const found: string[] = [];
  for (const sql of [...changeProblems, ...pastProblems])
    found.push(...(await reader.all(sql, [problemsMax])).map(({ problem }) => String(problem)));
  return found;
}

/** The rows of the former versions that can be read. */
export const keptVersions = `subscription_version where tenant_id = $1
  and until_revision > (select history_from from tenant as t where t.id = $1)` as const;

const columns = 'revision, swept_revision, history_from, history_revision, history_at';
/** The tenant as a table with `tenant_id`. */
const itself = `(select id as tenant_id, ${columns} from tenant) as t where t.tenant_id = $1`;

const sweptAhead = `select 'Tombstones are swept up to ' || swept_revision || ', the tenant is at ' || revision as problem
  from ${itself} and swept_revision > revision limit $2`;

const ahead = (what: string, table: string): string => `select '${what} ''' || id || ''' is of revision ' || revision
    || ', after that of the tenant' as problem
  from ${table} where tenant_id = $1 and revision > (select t.revision from ${itself}) order by revision, id limit $2`;

const liveTombstones = `select 'Record ''' || id || ''' has a tombstone, although it is there' as problem
  from subscription_tombstone as b where b.tenant_id = $1
  and exists (select 1 from subscription as s where s.tenant_id = $1 and s.id = b.id) order by id limit $2`;

/** Followers of changes are not told of these removals. */
const missingTombstones = `select 'Record ''' || v.id || ''' was removed at revision ' || max(v.until_revision)
    || ', and has no tombstone' as problem
  from subscription_version as v cross join ${itself} and v.tenant_id = $1
    and v.until_revision > t.history_from and v.until_revision > t.swept_revision
    and not exists (select 1 from subscription as s where s.tenant_id = $1 and s.id = v.id)
    and not exists (select 1 from subscription_tombstone as b where b.tenant_id = $1 and b.id = v.id)
  group by v.id order by v.id limit $2`;

/** Versions that cannot be true beside the next one, the record and the tombstone. */
const wrongVersions = `select 'A former version of record ''' || id || ''' ' || problem as problem from (
    select v.id, case
      when v.from_revision >= v.until_revision then 'ends before it begins'
      when v.until_revision > t.revision then 'ends after the last revision'
      when exists (select 1 from subscription_version as n where n.tenant_id = $1 and n.id = v.id
        and n.until_revision > v.until_revision and n.from_revision < v.until_revision) then 'overlaps the next one'
      when exists (select 1 from subscription as s where s.tenant_id = $1 and s.id = v.id
        and s.revision < v.until_revision) then 'overlaps the record'
      when exists (select 1 from subscription_tombstone as b where b.tenant_id = $1 and b.id = v.id
        and b.revision < v.until_revision) then 'is younger than its tombstone'
      end as problem
    from subscription_version as v join tenant as t on t.id = $1
    where v.tenant_id = $1 and v.until_revision > t.history_from
  ) as checked where problem is not null order by id limit $2`;

/**
 * Each revision of the history needs a time, and times grow with the revisions. An instant means
 * the last revision before it, so without a time a former report would be sent for a later one.
 */
const wrongTimes = `select case when wanted <> found
      then 'Revisions of the history that have a time: ' || found || ', there must be ' || wanted
      else 'Times of revisions that are before an earlier one, or after the last: ' || disordered end as problem
  from (
    select t.revision - t.history_from as wanted, count(c.revision) as found,
      count(case when c.committed_at > t.history_at then 1
        when c.committed_at < c.previous_at and c.previous > t.history_from then 1 end) as disordered
    from tenant as t left join (
      select tenant_id, revision, committed_at, lag(revision) over (order by revision) as previous,
        lag(committed_at) over (order by revision) as previous_at
      from subscription_commit where tenant_id = $1
    ) as c on c.tenant_id = t.id and c.revision > t.history_from and c.revision <= t.revision
    where t.id = $1 and t.history_revision = t.revision
    group by t.revision, t.history_from
  ) as counted where found <> wanted or disordered > 0 limit $2`;

const wrongBounds = `select 'The history ' || problem as problem from (
    select case
      when t.history_revision > t.revision then 'ends after the last revision'
      when t.history_revision = t.revision and coalesce(t.history_from > t.revision, true) then 'begins after its end'
      when exists (select 1 from subscription_erasure as e where e.tenant_id = $1 and e.until_revision > t.history_from
        and (e.from_revision >= e.until_revision or e.until_revision > t.revision)) then 'has an erasure that cannot be'
      end as problem
    from ${itself}
  ) as checked where problem is not null limit $2`;

// Each selects up to `$2` sentences as `problem`.

/** Problems of followers of changes, who may hold tokens of revisions that were lost. */
export const changeProblems = [
  ...[sweptAhead, ahead('Record', 'subscription'), ahead('Tombstone', 'subscription_tombstone')],
  ...[liveTombstones, missingTombstones],
] as readonly TenantSql[];

/** Problems of reports of the past. */
export const pastProblems = [wrongVersions, wrongTimes, wrongBounds] as readonly TenantSql[];
