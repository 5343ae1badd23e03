-- How far the unfinished import of a tenant has come, committed with its rows, so that a killed one goes on from there (docs/decisions/imports.md).
create table subscription_import (
  tenant_id text not null primary key references tenant (id),
  bytes integer not null,
  sha256 text not null,
  format text not null,
  rows_read integer not null,
  rejected integer not null,
  inserted integer not null,
  updated integer not null,
  unchanged integer not null
) strict, without rowid;
