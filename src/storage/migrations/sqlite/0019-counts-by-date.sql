-- Oldest schema a program must know: 0019-counts-by-date
-- Counts in the order of each date, by status and renewal (docs/decisions/counts.md). A key of `counts` is a status or 'none'; with '+', its records that
-- renew automatically; '+' alone, all that do; in the series of a product, 'plan ' and a plan, those of the plan.
alter table subscription_span rename column statuses to counts;

delete from subscription_span;

drop index subscription_created;

drop index subscription_activation;

drop index subscription_expiration;

drop index subscription_product;

drop index subscription_status;

create index subscription_created on subscription
  (tenant_id, created_date, id, status, auto_renew, plan_id, activation_date, expiration_date);

create index subscription_activation on subscription
  (tenant_id, activation_date, id, status, auto_renew, plan_id, created_date, expiration_date);

create index subscription_expiration on subscription
  (tenant_id, expiration_date, id, status, auto_renew, plan_id, created_date, activation_date);

create index subscription_product on subscription
  (tenant_id, product_id, created_date, id, status, auto_renew, plan_id, activation_date, expiration_date);

-- Records that have expired are most of an old tenant, and are found in the other indexes.
create index subscription_status on subscription (tenant_id, status, created_date, id) where coalesce(status, '') <> 'EXPIRED';

-- Counts of what is stored: 350 rows a leaf, 40 leaves a group.
insert into subscription_span (tenant_id, series, level, from_date, from_id, n, counts)
with member as (
  select tenant_id, 'all' as series, created_date as date, id, status, auto_renew, plan_id from subscription
  union all
  select tenant_id, 'product=' || product_id, created_date, id, status, auto_renew, plan_id from subscription
  union all
  select tenant_id, 'activation', activation_date, id, status, auto_renew, plan_id from subscription
  union all
  select tenant_id, 'expiration', expiration_date, id, status, auto_renew, plan_id from subscription
), ranked as (
  select tenant_id, series, date, id, coalesce(status, 'none') as status, auto_renew, plan_id,
    row_number() over (partition by tenant_id, series order by date, id) - 1 as rank
  from member
), piece as (
  select tenant_id, series, rank / 350 as leaf, status, auto_renew, plan_id, count(*) as n,
    max(case when rank > 0 and rank % 350 = 0 then date end) as from_date,
    max(case when rank > 0 and rank % 350 = 0 then id end) as from_id
  from ranked
  group by tenant_id, series, rank / 350, status, auto_renew, plan_id
), keyed as (
  select tenant_id, series, leaf, status as key, n as rows, n, from_date, from_id from piece
  union all
  select tenant_id, series, leaf, status || '+', 0, n, from_date, from_id from piece where auto_renew = 'true'
  union all
  select tenant_id, series, leaf, '+', 0, n, from_date, from_id from piece where auto_renew = 'true'
  union all
  select tenant_id, series, leaf, 'plan ' || plan_id, 0, n, from_date, from_id from piece where series like 'product=%'
), width (level, leaves) as (
  values (0, 1), (1, 40), (2, 9007199254740991)
), counted as (
  select tenant_id, series, level, leaf / leaves as place, key, sum(rows) as rows, sum(n) as n,
    max(case when leaf % leaves = 0 then from_date end) as from_date, max(case when leaf % leaves = 0 then from_id end) as from_id
  from keyed cross join width
  group by tenant_id, series, level, leaf / leaves, key
)
select tenant_id, series, level, coalesce(max(from_date), -9007199254740991), coalesce(max(from_id), ''), sum(rows),
  json_group_object(key, n)
from counted
group by tenant_id, series, level, place;

analyze sqlite_schema;

delete from sqlite_stat1 where tbl = 'subscription'
  and idx in ('subscription_activation', 'subscription_created', 'subscription_expiration', 'subscription_product', 'subscription_status');

insert into sqlite_stat1 (tbl, idx, stat) values
  ('subscription', 'subscription_activation', '1000000 20000 2 1 1 1 1 1 1'),
  ('subscription', 'subscription_created', '1000000 20000 2 1 1 1 1 1 1'),
  ('subscription', 'subscription_expiration', '1000000 20000 2 1 1 1 1 1 1'),
  ('subscription', 'subscription_product', '1000000 20000 800 2 1 1 1 1 1 1'),
  ('subscription', 'subscription_status', '500000 10000 5000 2 1');

analyze sqlite_schema;
