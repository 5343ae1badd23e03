-- Oldest schema a program must know: 0004-imports
-- One row for each import that began (docs/decisions/import-history.md). Its id begins with the time, so that ids are in the
-- order of the starts. The result is running, ok, failed or interrupted; the counts are null until the import has ended.
-- On Citus it stays on the coordinator, so that an operator can read it while a worker is down.
create table import_history (
  id text collate "C" not null primary key,
  tenant_id text collate "C" not null,
  started_at bigint not null,
  ended_at bigint,
  actor_kind text not null,
  actor_id text not null,
  actor_name text,
  address text,
  via text not null,
  format text not null,
  options text not null,
  result text collate "C" not null,
  error text,
  rows_read bigint,
  rejected bigint,
  inserted bigint,
  updated bigint,
  unchanged bigint,
  removed bigint,
  revision bigint
);

create index import_history_tenant on import_history (tenant_id, id);

create index import_history_result on import_history (result, id);

-- The newest import of a tenant that was not a dry run, and when one last ended without a rejected row (UTC epoch seconds).
create table import_latest (
  tenant_id text collate "C" not null primary key,
  import_id text collate "C" not null,
  good_at bigint
);

-- The first rejected rows of an import as NDJSON. They quote values of the tenant's records.
create table import_rejection (
  tenant_id text collate "C" not null references tenant (id),
  import_id text collate "C" not null,
  row_lines text not null,
  primary key (tenant_id, import_id)
);

-- On a distributed engine, beside the subscriptions; elsewhere this does nothing.
do $$ begin
  if exists (select 1 from pg_extension where extname = 'citus') then
    perform create_distributed_table('import_rejection', 'tenant_id', colocate_with => 'tenant');
  end if;
end $$;

alter table import_rejection enable row level security;
alter table import_rejection force row level security;

create policy import_rejection_tenant on import_rejection
  using (tenant_id = nullif(current_setting('app.tenant', true), ''))
  with check (tenant_id = nullif(current_setting('app.tenant', true), ''));
