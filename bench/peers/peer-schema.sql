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
