-- Oldest schema a program must know: 0004-imports
-- With auto_renew, the index alone answers how many subscriptions expire per day and are not renewed
-- (docs/decisions/overview.md). The older index is a prefix of this one.
drop index subscription_expiration;

create index subscription_expiration on subscription (tenant_id, expiration_date, id, auto_renew);
