-- Oldest schema a program must know: 0004-imports
-- What the changes of the commit did to how many records, as JSON (docs/decisions/changes.md#changes-summary). Null: not kept.
alter table subscription_commit add column change_groups text;
