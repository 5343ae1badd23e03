-- Tenants: the customers of the operator. Each client belongs to one, each subscription belongs to one.
create table tenant (
  id text not null primary key,
  created_at integer not null,
  -- Grows with each committed change of the tenant's subscriptions.
  revision integer not null default 0
) strict;

-- A subscription: its finished wire text, beside the columns that filters and orders compare. Times are whole UTC epoch seconds.
create table subscription (
  tenant_id text not null references tenant (id),
  id text not null,
  created_date integer not null,
  activation_date integer not null,
  expiration_date integer not null,
  status text,
  product_id text not null,
  plan_id text not null,
  iccid text not null,
  device_id text not null,
  -- The word on the wire, 'true' or 'false'.
  auto_renew text not null,
  email text,
  record text not null,
  primary key (tenant_id, id)
) strict;

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
  client_id text not null primary key,
  tenant_id text not null references tenant (id),
  grants text not null,
  scopes text not null,
  created_at integer not null,
  disabled_at integer,
  -- When it last got a token, to the minute.
  last_used_at integer
) strict;

create index client_tenant on client (tenant_id, client_id);

-- Secrets of clients, hashed; two live ones while a client moves from the old to the new.
create table client_secret (
  client_id text not null references client (client_id),
  hash text not null,
  created_at integer not null,
  expires_at integer,
  primary key (client_id, hash)
) strict;

-- Refresh families: one row for all generations of a refresh token (RFC 9700 section 4.14.2).
create table refresh_family (
  client_id text not null references client (client_id),
  id text not null,
  scope text not null,
  generation integer not null,
  rotated_at integer not null,
  expires_at integer not null,
  cap_at integer not null,
  revoked_at integer,
  primary key (client_id, id)
) strict;

create index refresh_family_cap on refresh_family (cap_at);

create index refresh_family_rotated on refresh_family (client_id, rotated_at);

create index refresh_family_revoked on refresh_family (revoked_at) where revoked_at is not null;

-- Keys of the service: purpose 'access' signs access tokens, 'refresh' protects refresh tokens. A key is known to every process before it is used,
-- from activates_at on. The JWK is encrypted when the operator has set a secret for it.
create table auth_key (
  purpose text not null,
  sequence integer not null,
  kid text not null,
  alg text not null,
  jwk text not null,
  created_at integer not null,
  activates_at integer not null,
  primary key (purpose, sequence)
) strict;
