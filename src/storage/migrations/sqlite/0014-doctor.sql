-- Oldest schema a program must know: 0004-imports
-- The result of the last check of the store (subreport doctor): one row. Times are UTC epoch seconds.
create table doctor_result (
  id text not null primary key,
  started_at integer not null,
  finished_at integer not null,
  host text not null,
  version text not null,
  checks integer not null,
  problems integer not null,
  listed text not null
) strict, without rowid;
