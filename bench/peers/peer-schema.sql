-- The tables of the hand-written peer (fastify-pg.ts), filled with the very rows of our own table. Run by a superuser, whom row-level security does not bind.
create schema peer;

create table peer.product as
  select distinct on (product_id) product_id as id, record::json #>> '{product,name}' as name,
    (record::json #>> '{product,period}')::integer as period, record::json #>> '{product,period_unit}' as period_unit,
    record::json #>> '{product,plan_id}' as plan_id
  from subscription
  order by product_id;
alter table peer.product add primary key (id);

create table peer.subscription as
  select tenant_id, id, status, to_timestamp(activation_date) as activated_at, to_timestamp(expiration_date) as expires_at,
    to_timestamp(created_date) as created_at, product_id, iccid, email, record::json ->> 'device_id' as device_id,
    (record::json ->> 'auto_renew')::boolean as auto_renew
  from subscription;
alter table peer.subscription add primary key (tenant_id, id), add foreign key (product_id) references peer.product (id);
create index on peer.subscription (tenant_id, created_at desc, id desc);
create index on peer.subscription (tenant_id, iccid);
create index on peer.subscription (tenant_id, product_id);
create index on peer.subscription (tenant_id, email);

-- The role and the row-level security of PostgREST's method (postgrest.ts). The hand-written peer reads as another role, with a policy that hides nothing from it.
create role peer_reader nologin;
grant peer_reader to subreport_bench;
grant usage on schema peer to peer_reader, subreport_bench;
grant select on all tables in schema peer to peer_reader, subreport_bench;
alter table peer.subscription enable row level security;
create policy of_tenant on peer.subscription to peer_reader
  using (tenant_id = (current_setting('request.jwt.claims', true)::json ->> 'tenant'));
create policy by_hand on peer.subscription to subreport_bench using (true);
