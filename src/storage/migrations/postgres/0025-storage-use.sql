-- Oldest schema a program must know: 0004-imports
-- Bytes that a tenant's rows are charged, by kind (docs/decisions/storage.md#budget), as of bytes_revision. If that is not revision,
-- a program that does not count them has changed rows since, and the next change counts them again. Null: never counted.
alter table tenant add column record_bytes bigint not null default 0;

alter table tenant add column history_bytes bigint not null default 0;

alter table tenant add column tombstone_bytes bigint not null default 0;

alter table tenant add column import_bytes bigint not null default 0;

alter table tenant add column rejection_bytes bigint not null default 0;

alter table tenant add column bytes_revision bigint;

-- The owner must see every tenant's rows to count them.
-- Contract: row-level security is forced again within the transaction.
alter table subscription no force row level security;

alter table subscription_version no force row level security;

alter table subscription_commit no force row level security;

alter table subscription_tombstone no force row level security;

alter table import_rejection no force row level security;

update tenant set bytes_revision = revision,
  record_bytes = (
    select coalesce(sum(octet_length(s.record) + coalesce(octet_length(s.email), 0) + 800), 0) from subscription as s where s.tenant_id = tenant.id
  ),
  history_bytes = (
    select coalesce(sum(octet_length(v.record) + coalesce(octet_length(v.email), 0) + 300), 0) from subscription_version as v where v.tenant_id = tenant.id
  ) + (select count(*) * 150 from subscription_commit as c where c.tenant_id = tenant.id),
  tombstone_bytes = (select count(*) * 200 from subscription_tombstone as b where b.tenant_id = tenant.id),
  rejection_bytes = (
    select coalesce(sum(octet_length(r.row_lines)), 0) from import_rejection as r where r.tenant_id = tenant.id
  );

alter table subscription force row level security;

alter table subscription_version force row level security;

alter table subscription_commit force row level security;

alter table subscription_tombstone force row level security;

alter table import_rejection force row level security;

-- The tenant's revision in the newest row of tenant_revision, which has a row for a day only if the revision has changed.
alter table tenant add column noted_revision bigint;

delete from tenant_revision as r where exists (
  select 1 from tenant_revision as o where o.tenant_id = r.tenant_id and o.day < r.day and o.revision = r.revision
);

-- 1 once the versions that ended up to the revision are deleted.
alter table tenant_revision add column is_swept bigint not null default 0;

create index tenant_revision_day on tenant_revision (day, tenant_id);

create index tenant_revision_due on tenant_revision (day, tenant_id) where is_swept = 0;

create index tenant_history_due on tenant (id) where history_from > history_swept;
