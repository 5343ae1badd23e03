-- Oldest schema a program must know: 0004-imports
-- What a tenant mirrors, as JSON: the id of the mirror, its origin, since when, and how old its records are. Null: nothing.
alter table tenant add column mirror text;
