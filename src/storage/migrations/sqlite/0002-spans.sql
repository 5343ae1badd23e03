-- The listing of one product's subscriptions in some states, by key.
create index subscription_product_status on subscription (tenant_id, product_id, status, created_date, id);

-- Counts of a tenant's subscriptions by span of the default order (docs/decisions/counts.md). A series is what a span counts: 'all', or one product's
-- ('product=' and its id). A span reaches from its key to the next one of its series and level; the first begins before every key. Level 0 are spans of
-- bounded size, level 1 groups of them, level 2 the whole series. `statuses` is a JSON object: rows by status; rows without one are in `n` alone.
create table subscription_span (
  tenant_id text not null references tenant (id),
  series text not null,
  level integer not null,
  from_date integer not null,
  from_id text not null,
  n integer not null,
  statuses text not null,
  primary key (tenant_id, series, level, from_date, from_id)
) strict, without rowid;

-- Counts of what is there already: 350 rows a span, 40 spans a group.
insert into subscription_span (tenant_id, series, level, from_date, from_id, n, statuses)
with member as (
  select tenant_id, 'all' as series, created_date, id, status from subscription
  union all
  select tenant_id, 'product=' || product_id, created_date, id, status from subscription
), ranked as (
  select tenant_id, series, created_date, id, status,
    row_number() over (partition by tenant_id, series order by created_date, id) - 1 as rank
  from member
), width (level, rows) as (
  values (0, 350), (1, 14000), (2, 9007199254740991)
), counted as (
  select tenant_id, series, level, rank / rows as place, status, count(*) as n,
    max(case when rank > 0 and rank % rows = 0 then created_date end) as from_date,
    max(case when rank > 0 and rank % rows = 0 then id end) as from_id
  from ranked cross join width
  group by tenant_id, series, level, rank / rows, status
)
select tenant_id, series, level, coalesce(max(from_date), -9007199254740991), coalesce(max(from_id), ''), sum(n),
  json_group_object(status, n) filter (where status is not null)
from counted
group by tenant_id, series, level, place;
