-- Oldest schema a program must know: 0024-open-values
-- A product without a plan has none here either (docs/decisions/query.md#product-fields).
alter table subscription alter column plan_id drop not null;

alter table subscription_version alter column plan_id drop not null;
