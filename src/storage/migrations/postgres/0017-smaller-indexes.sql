-- Oldest schema a program must know: 0004-imports
-- The queries of each index, and what it costs: docs/decisions/indexes.md.
drop index subscription_auto_renew;

drop index subscription_created;

drop index subscription_device;

drop index subscription_email;

drop index subscription_iccid;

drop index subscription_plan;

drop index subscription_product;

drop index subscription_product_status;

create index subscription_created on subscription (tenant_id, created_date, id, auto_renew, plan_id);

create index subscription_product on subscription (tenant_id, product_id, created_date, id, status);

create index subscription_iccid on subscription (tenant_id, iccid);

create index subscription_device on subscription (tenant_id, device_id);

create index subscription_email on subscription (tenant_id, email) where email is not null;
