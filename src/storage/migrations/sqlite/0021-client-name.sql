-- Oldest schema a program must know: 0004-imports
-- What people call a client, such as "Finance, Acme"; null if it has no name.
alter table client add column name text;
