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

-- Without figures, SQLite expects as many records of a status as of a SIM. These are fixed: records in all, then with the
-- same first column, the same two columns, and so on.
analyze sqlite_schema;

delete from sqlite_stat1 where tbl = 'subscription';

insert into sqlite_stat1 (tbl, idx, stat) values
  ('subscription', 'sqlite_autoindex_subscription_1', '1000000 20000 1'),
  ('subscription', 'subscription_activation', '1000000 20000 2 1'),
  ('subscription', 'subscription_created', '1000000 20000 2 1 1 1'),
  ('subscription', 'subscription_device', '1000000 20000 3'),
  ('subscription', 'subscription_email', '1000000 20000 10'),
  ('subscription', 'subscription_expiration', '1000000 20000 2 1 1'),
  ('subscription', 'subscription_iccid', '1000000 20000 3'),
  ('subscription', 'subscription_product', '1000000 20000 800 2 1 1'),
  ('subscription', 'subscription_revision', '1000000 20000 500 1'),
  ('subscription', 'subscription_status', '1000000 20000 5000 2 1');

analyze sqlite_schema;
