import type { TenantSql } from '../store.ts';

// Statements that find what cannot be true in a tenant's history.

/**
 * Versions of the kept history that cannot be true, beside their neighbours: the next version, the
 * record and the tombstone.
 */
export const wrongVersions = `select id, problem from (
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

/** The rows of the former versions that can be read. */
export const keptVersions = `subscription_version where tenant_id = $1
  and until_revision > (select history_from from tenant as t where t.id = $1)` as const;

/**
 * The number of revisions that need a time, of those that have one, and of times that do not grow
 * with the revisions; no row if all is as it must be. A time of the past means the last revision
 * before it, so without a time a former report would be the answer.
 */
export const wrongCommits: TenantSql = `select wanted, found, disordered from (
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
  ) as counted where found <> wanted or disordered > 0`;

/** What a history says of itself that cannot be true. */
export const wrongBounds: TenantSql = `select problem from (
    select t.id as tenant_id, case
      when t.history_revision > t.revision then 'ends after the last revision'
      when t.history_revision = t.revision and coalesce(t.history_from > t.revision, true) then 'begins after its end'
      when exists (select 1 from subscription_erasure as e where e.tenant_id = $1 and e.until_revision > t.history_from
        and (e.n < 1 or e.from_revision >= e.until_revision or e.until_revision > t.revision)) then 'has an erasure that cannot be'
      end as problem
    from tenant as t
  ) as checked where tenant_id = $1 and problem is not null`;

/** Removed records without a tombstone, whose removal followers of changes are not told. */
const withoutTombstone = `subscription_version as v where v.tenant_id = $1
    and v.until_revision > (select history_from from tenant as t where t.id = $1)
    and v.until_revision > (select swept_revision from tenant as t where t.id = $1)
    and not exists (select 1 from subscription as s where s.tenant_id = $1 and s.id = v.id)
    and not exists (select 1 from subscription_tombstone as b where b.tenant_id = $1 and b.id = v.id)`;

export const missingTombstones = `select v.id, max(v.until_revision) as revision from ${withoutTombstone}
  group by v.id order by v.id limit $2` as TenantSql;

/** Leaves their tombstones, of the revision `$2`. */
export const buryRemoved = `insert into subscription_tombstone (tenant_id, id, revision)
  select v.tenant_id, v.id, cast($2 as bigint) from ${withoutTombstone} on conflict do nothing returning id` as TenantSql;
