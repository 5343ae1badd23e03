-- Oldest schema a program must know: 0004-imports
-- One row for each import that began (docs/decisions/import-history.md). Its id begins with the time, so that ids are in the
-- order of the starts. The result is running, ok, failed or interrupted; the counts are null until the import has ended.
create table import_history (
  id text not null primary key,
  tenant_id text not null,
  started_at integer not null,
  ended_at integer,
  actor_kind text not null,
  actor_id text not null,
  actor_name text,
  address text,
  via text not null,
  format text not null,
  options text not null,
  result text not null,
  error text,
  rows_read integer,
  rejected integer,
  inserted integer,
  updated integer,
  unchanged integer,
  removed integer,
  revision integer
) strict, without rowid;

create index import_history_tenant on import_history (tenant_id, id);

create index import_history_result on import_history (result, id);

-- The newest import of a tenant that was not a dry run, and when one last ended without a rejected row (UTC epoch seconds).
create table import_latest (
  tenant_id text not null primary key,
  import_id text not null,
  good_at integer
) strict, without rowid;

-- The first rejected rows of an import as NDJSON. They quote values of the tenant's records.
create table import_rejection (
  tenant_id text not null references tenant (id),
  import_id text not null,
  row_lines text not null,
  primary key (tenant_id, import_id)
) strict, without rowid;
