-- Oldest schema a program must know: 0004-imports
-- A tenant's history: which revisions can be read as they were (docs/decisions/changes.md#history). From history_from, current
-- since history_from_at, up to history_revision, committed at history_at. Null: none. If revision is not history_revision, a program
-- that keeps no history has changed records since. Rows that
-- ended up to history_swept are deleted; history_rows versions are there. Times are UTC epoch seconds.
alter table tenant add column history_from bigint;

alter table tenant add column history_from_at bigint;

alter table tenant add column history_revision bigint;

alter table tenant add column history_at bigint;

alter table tenant add column history_swept bigint not null default 0;

alter table tenant add column history_rows bigint not null default 0;

-- A record as it was from one revision until before another one, which updated or removed it.
create table subscription_version (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  from_revision bigint not null,
  until_revision bigint not null,
  created_date bigint not null,
  activation_date bigint not null,
  expiration_date bigint not null,
  status text collate "C",
  product_id text collate "C" not null,
  plan_id text collate "C" not null,
  iccid text collate "C" not null,
  device_id text collate "C" not null,
  auto_renew text collate "C" not null,
  email text collate "C",
  record text collate "C" not null,
  primary key (tenant_id, id, until_revision)
);

create index subscription_version_until on subscription_version (tenant_id, until_revision);

-- When a revision was committed, and the import that made it.
create table subscription_commit (
  tenant_id text collate "C" not null,
  revision bigint not null,
  committed_at bigint not null,
  import_id text collate "C",
  primary key (tenant_id, revision)
);

create index subscription_commit_time on subscription_commit (tenant_id, committed_at, revision);

-- How many records that were current from one revision until before another one have been erased.
create table subscription_erasure (
  tenant_id text collate "C" not null,
  from_revision bigint not null,
  until_revision bigint not null,
  n bigint not null,
  primary key (tenant_id, from_revision, until_revision)
);

-- On a distributed engine, beside the subscriptions; elsewhere this does nothing.
do $$ begin
  if exists (select 1 from pg_extension where extname = 'citus') then
    perform create_distributed_table('subscription_version', 'tenant_id', colocate_with => 'tenant');
    perform create_distributed_table('subscription_commit', 'tenant_id', colocate_with => 'tenant');
    perform create_distributed_table('subscription_erasure', 'tenant_id', colocate_with => 'tenant');
  end if;
end $$;

alter table subscription_version enable row level security;
alter table subscription_version force row level security;

create policy subscription_version_tenant on subscription_version
  using (tenant_id = nullif(current_setting('app.tenant', true), ''))
  with check (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table subscription_commit enable row level security;
alter table subscription_commit force row level security;

create policy subscription_commit_tenant on subscription_commit
  using (tenant_id = nullif(current_setting('app.tenant', true), ''))
  with check (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table subscription_erasure enable row level security;
alter table subscription_erasure force row level security;

create policy subscription_erasure_tenant on subscription_erasure
  using (tenant_id = nullif(current_setting('app.tenant', true), ''))
  with check (tenant_id = nullif(current_setting('app.tenant', true), ''));
