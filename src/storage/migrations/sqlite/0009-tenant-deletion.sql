-- Oldest schema a program must know: 0004-imports
-- When the deletion of a tenant began, and when the last of its rows was gone. Its name and revision stay: a tenant that gets
-- the name later continues the revisions (docs/decisions/deletion.md). UTC epoch seconds; null for a tenant that is in use.
alter table tenant add column deletion_started_at integer;

alter table tenant add column deleted_at integer;
