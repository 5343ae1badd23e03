-- Oldest schema a program must know: 0001-initial

-- Most records are ACTIVE, DEPLETED or EXPIRED, or have no status; the other indexes find them, as the counts know where they begin.
drop index subscription_status;

create index subscription_status on subscription
  (tenant_id, status, created_date, id, auto_renew, plan_id, activation_date, expiration_date)
  where status not in ('ACTIVE', 'DEPLETED', 'EXPIRED');
