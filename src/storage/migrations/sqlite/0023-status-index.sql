-- Oldest schema a program must know: 0004-imports
-- With all that other filters compare, so that counting the records of a status reads no record (docs/decisions/counts.md#paths).
drop index subscription_status;

create index subscription_status on subscription
  (tenant_id, status, created_date, id, auto_renew, plan_id, activation_date, expiration_date) where coalesce(status, '') <> 'EXPIRED';
