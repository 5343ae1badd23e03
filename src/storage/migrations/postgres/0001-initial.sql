-- Tenants: the customers of the operator. Each client belongs to one, each subscription belongs to one.
create table tenant (
  id text collate "C" not null primary key,
  created_at bigint not null,
  -- Grows with each committed change of the tenant's subscriptions.
  revision bigint not null default 0
);

-- A subscription: its finished wire text, beside the columns that filters and orders compare. Times are whole UTC epoch seconds.
create table subscription (
  tenant_id text collate "C" not null references tenant (id),
  id text collate "C" not null,
  created_date bigint not null,
  activation_date bigint not null,
  expiration_date bigint not null,
  status text collate "C",
  product_id text collate "C" not null,
  plan_id text collate "C" not null,
  iccid text collate "C" not null,
  device_id text collate "C" not null,
  -- The word on the wire, 'true' or 'false'.
  auto_renew text collate "C" not null,
  email text collate "C",
  record text collate "C" not null,
  primary key (tenant_id, id)
);

create index subscription_created on subscription (tenant_id, created_date, id);
create index subscription_activation on subscription (tenant_id, activation_date, id);
create index subscription_expiration on subscription (tenant_id, expiration_date, id);
create index subscription_product on subscription (tenant_id, product_id, created_date, id);
create index subscription_status on subscription (tenant_id, status, created_date, id);
create index subscription_plan on subscription (tenant_id, plan_id, created_date, id);
create index subscription_device on subscription (tenant_id, device_id, created_date, id);
create index subscription_auto_renew on subscription (tenant_id, auto_renew, created_date, id);
create index subscription_iccid on subscription (tenant_id, iccid, created_date, id);
create index subscription_email on subscription (tenant_id, email, created_date, id) where email is not null;

-- Clients: who may ask for a token. Grants and scopes are space-separated lists.
create table client (
  client_id text collate "C" not null primary key,
  tenant_id text collate "C" not null,
  grants text not null,
  scopes text not null,
  created_at bigint not null,
  disabled_at bigint,
  -- When it last got a token, to the minute.
  last_used_at bigint
);

create index client_tenant on client (tenant_id, client_id);

-- Secrets of clients, hashed; two live ones while a client moves from the old to the new.
create table client_secret (
  client_id text collate "C" not null references client (client_id),
  hash text collate "C" not null,
  created_at bigint not null,
  expires_at bigint,
  primary key (client_id, hash)
);

-- Refresh families: one row for all generations of a refresh token (RFC 9700 section 4.14.2).
create table refresh_family (
  client_id text collate "C" not null references client (client_id),
  id text collate "C" not null,
  scope text not null,
  generation bigint not null,
  rotated_at bigint not null,
  expires_at bigint not null,
  cap_at bigint not null,
  revoked_at bigint,
  primary key (client_id, id)
);

create index refresh_family_cap on refresh_family (cap_at);

create index refresh_family_rotated on refresh_family (client_id, rotated_at);

create index refresh_family_revoked on refresh_family (revoked_at) where revoked_at is not null;

-- Keys of the service: purpose 'access' signs access tokens, 'refresh' protects refresh tokens. A key is known to every process before it is used,
-- from activates_at on. The JWK is encrypted when the operator has set a secret for it.
create table auth_key (
  purpose text collate "C" not null,
  sequence bigint not null,
  kid text collate "C" not null,
  alg text not null,
  jwk text not null,
  created_at bigint not null,
  activates_at bigint not null,
  primary key (purpose, sequence)
);

-- The tenant of a transaction, for row-level security. SET LOCAL as its own statement is the form that a distributed engine forwards to its workers.
create function set_tenant(tenant text) returns void language plpgsql as $$
begin
  execute format('set local app.tenant = %L', tenant);
end
$$;

-- The second wall beside the tenant in every statement: without a tenant set, no row is there. FORCE holds the owner to it as well.
alter table subscription enable row level security;

alter table subscription force row level security;

create policy subscription_tenant on subscription
  using (tenant_id = nullif(current_setting('app.tenant', true), ''))
  with check (tenant_id = nullif(current_setting('app.tenant', true), ''));

-- On a distributed engine, the tables are spread by tenant and by client; elsewhere this does nothing.
do $$ begin
  if exists (select 1 from pg_extension where extname = 'citus') then
    perform create_distributed_table('tenant', 'id', colocate_with => 'none', shard_count => 8);
    perform create_distributed_table('subscription', 'tenant_id', colocate_with => 'tenant');
    perform create_distributed_table('client', 'client_id', colocate_with => 'none', shard_count => 8);
    perform create_distributed_table('client_secret', 'client_id', colocate_with => 'client');
    perform create_distributed_table('refresh_family', 'client_id', colocate_with => 'client');
  end if;
end $$;
