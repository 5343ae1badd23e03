-- Oldest schema a program must know: 0004-imports
-- The oldest schema that a program must know to work with the schema that a migration makes (docs/decisions/upgrades.md).
-- Null: it must know the migration itself.
alter table schema_migration add column oldest_schema text;
