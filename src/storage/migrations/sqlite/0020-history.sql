-- Oldest schema a program must know: 0004-imports
-- A tenant's history: which revisions can be read as they were (docs/decisions/changes.md#history). From history_from, current
-- since history_from_at, up to history_revision, committed at history_at. Null: none. If revision is not history_revision, a program
-- that keeps no history has changed records since. Rows that
-- ended up to history_swept are deleted; history_rows versions are there. Times are UTC epoch seconds.
alter table tenant add column history_from integer;

alter table tenant add column history_from_at integer;

alter table tenant add column history_revision integer;

alter table tenant add column history_at integer;

alter table tenant add column history_swept integer not null default 0;

alter table tenant add column history_rows integer not null default 0;

-- A record as it was from one revision until before another one, which updated or removed it.
create table subscription_version (
  tenant_id text not null,
  id text not null,
  from_revision integer not null,
  until_revision integer not null,
  created_date integer not null,
  activation_date integer not null,
  expiration_date integer not null,
  status text,
  product_id text not null,
  plan_id text not null,
  iccid text not null,
  device_id text not null,
  auto_renew text not null,
  email text,
  record text not null,
  primary key (tenant_id, id, until_revision)
) strict;

create index subscription_version_until on subscription_version (tenant_id, until_revision);

-- When a revision was committed, and the import that made it.
create table subscription_commit (
  tenant_id text not null,
  revision integer not null,
  committed_at integer not null,
  import_id text,
  primary key (tenant_id, revision)
) strict, without rowid;

create index subscription_commit_time on subscription_commit (tenant_id, committed_at, revision);

-- How many records that were current from one revision until before another one have been erased.
create table subscription_erasure (
  tenant_id text not null,
  from_revision integer not null,
  until_revision integer not null,
  n integer not null,
  primary key (tenant_id, from_revision, until_revision)
) strict, without rowid;
