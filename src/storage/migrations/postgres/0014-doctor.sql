-- Oldest schema a program must know: 0004-imports
-- The result of the last check of the store (subreport doctor): one row. Times are UTC epoch seconds.
-- On Citus it stays on the coordinator.
create table doctor_result (
  id text collate "C" not null primary key,
  started_at bigint not null,
  finished_at bigint not null,
  host text not null,
  version text not null,
  checks bigint not null,
  problems bigint not null,
  listed text not null
);
