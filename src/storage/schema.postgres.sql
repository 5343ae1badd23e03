create table auth_key (
  purpose text collate "C" not null,
  sequence bigint not null,
  kid text collate "C" not null,
  alg text not null,
  jwk text not null,
  created_at bigint not null,
  activates_at bigint not null
);

create table client (
  client_id text collate "C" not null,
  tenant_id text collate "C" not null,
  grants text not null,
  scopes text not null,
  created_at bigint not null,
  disabled_at bigint,
  last_used_at bigint,
  tokens_revoked_at bigint,
  refresh_token_use text,
  rate_limit_per_minute integer
);

create table client_secret (
  client_id text collate "C" not null,
  hash text collate "C" not null,
  created_at bigint not null,
  expires_at bigint
);

create table idempotency_key (
  operator_id text collate "C" not null,
  operation text collate "C" not null,
  idempotency_key text collate "C" not null,
  fingerprint text not null,
  created_at bigint not null,
  status bigint,
  response text
);

create table import_history (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  started_at bigint not null,
  ended_at bigint,
  actor_kind text not null,
  actor_id text not null,
  actor_name text,
  address text,
  via text not null,
  format text not null,
  options text not null,
  result text collate "C" not null,
  error text,
  rows_read bigint,
  rejected bigint,
  inserted bigint,
  updated bigint,
  unchanged bigint,
  removed bigint,
  revision bigint
);

create table import_latest (
  tenant_id text collate "C" not null,
  import_id text collate "C" not null,
  good_at bigint
);

create table import_rejection (
  tenant_id text collate "C" not null,
  import_id text collate "C" not null,
  row_lines text not null
);

create table operator_token (
  id text collate "C" not null,
  name text collate "C" not null,
  scopes text not null,
  sha256 text collate "C" not null,
  created_at bigint not null,
  expires_at bigint,
  last_used_at bigint,
  revoked_at bigint
);

create table refresh_family (
  client_id text collate "C" not null,
  id text collate "C" not null,
  scope text not null,
  generation bigint not null,
  rotated_at bigint not null,
  expires_at bigint not null,
  cap_at bigint not null,
  revoked_at bigint,
  started_at bigint,
  access_ends_at bigint
);

create table schema_migration (
  name text collate "C" not null,
  checksum text not null,
  oldest_schema text collate "C"
);

create table subscription (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  created_date bigint not null,
  activation_date bigint not null,
  expiration_date bigint not null,
  status text collate "C",
  product_id text collate "C" not null,
  plan_id text collate "C" not null,
  iccid text collate "C" not null,
  device_id text collate "C" not null,
  auto_renew text collate "C" not null,
  email text collate "C",
  record text collate "C" not null,
  revision bigint not null default 0
);

create table subscription_import (
  tenant_id text collate "C" not null,
  bytes bigint not null,
  sha256 text not null,
  format text not null,
  rows_read bigint not null,
  rejected bigint not null,
  inserted bigint not null,
  updated bigint not null,
  unchanged bigint not null
);

create table subscription_span (
  tenant_id text collate "C" not null,
  series text collate "C" not null,
  level bigint not null,
  from_date bigint not null,
  from_id text collate "C" not null,
  n bigint not null,
  statuses jsonb not null
);

create table subscription_tombstone (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  revision bigint not null
);

create table tenant (
  id text collate "C" not null,
  created_at bigint not null,
  revision bigint not null default 0,
  swept_revision bigint not null default 0,
  deletion_started_at bigint,
  deleted_at bigint
);

create table tenant_revision (
  tenant_id text collate "C" not null,
  day bigint not null,
  revision bigint not null
);

alter table auth_key add constraint auth_key_pkey PRIMARY KEY (purpose, sequence);

alter table client add constraint client_pkey PRIMARY KEY (client_id);

alter table client_secret add constraint client_secret_client_id_fkey FOREIGN KEY (client_id) REFERENCES client(client_id);

alter table client_secret add constraint client_secret_pkey PRIMARY KEY (client_id, hash);

alter table idempotency_key add constraint idempotency_key_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operator_token(id);

alter table idempotency_key add constraint idempotency_key_pkey PRIMARY KEY (operator_id, operation, idempotency_key);

alter table import_history add constraint import_history_pkey PRIMARY KEY (id);

alter table import_latest add constraint import_latest_pkey PRIMARY KEY (tenant_id);

alter table import_rejection add constraint import_rejection_pkey PRIMARY KEY (tenant_id, import_id);

alter table import_rejection add constraint import_rejection_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);

alter table operator_token add constraint operator_token_pkey PRIMARY KEY (id);

alter table operator_token add constraint operator_token_sha256_key UNIQUE (sha256);

alter table refresh_family add constraint refresh_family_client_id_fkey FOREIGN KEY (client_id) REFERENCES client(client_id);

alter table refresh_family add constraint refresh_family_pkey PRIMARY KEY (client_id, id);

alter table schema_migration add constraint schema_migration_pkey PRIMARY KEY (name);

alter table subscription add constraint subscription_pkey PRIMARY KEY (tenant_id, id);

alter table subscription add constraint subscription_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);

alter table subscription_import add constraint subscription_import_pkey PRIMARY KEY (tenant_id);

alter table subscription_import add constraint subscription_import_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);

alter table subscription_span add constraint subscription_span_pkey PRIMARY KEY (tenant_id, series, level, from_date, from_id);

alter table subscription_span add constraint subscription_span_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);

alter table subscription_tombstone add constraint subscription_tombstone_pkey PRIMARY KEY (tenant_id, id);

alter table subscription_tombstone add constraint subscription_tombstone_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id);

alter table tenant add constraint tenant_pkey PRIMARY KEY (id);

alter table tenant_revision add constraint tenant_revision_pkey PRIMARY KEY (tenant_id, day);

alter table tenant_revision add constraint tenant_revision_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenant(id) ON DELETE CASCADE;

CREATE INDEX client_tenant ON public.client USING btree (tenant_id, client_id);

CREATE INDEX idempotency_key_created ON public.idempotency_key USING btree (created_at);

CREATE INDEX import_history_result ON public.import_history USING btree (result, id);

CREATE INDEX import_history_tenant ON public.import_history USING btree (tenant_id, id);

CREATE INDEX refresh_family_cap ON public.refresh_family USING btree (cap_at);

CREATE INDEX refresh_family_expires ON public.refresh_family USING btree (expires_at);

CREATE INDEX refresh_family_live ON public.refresh_family USING btree (client_id, rotated_at) WHERE ((revoked_at IS NULL) AND (expires_at > 0));

CREATE INDEX refresh_family_revoked ON public.refresh_family USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);

CREATE INDEX refresh_family_rotated ON public.refresh_family USING btree (client_id, rotated_at);

CREATE INDEX subscription_activation ON public.subscription USING btree (tenant_id, activation_date, id);

CREATE INDEX subscription_auto_renew ON public.subscription USING btree (tenant_id, auto_renew, created_date, id);

CREATE INDEX subscription_created ON public.subscription USING btree (tenant_id, created_date, id);

CREATE INDEX subscription_device ON public.subscription USING btree (tenant_id, device_id, created_date, id);

CREATE INDEX subscription_email ON public.subscription USING btree (tenant_id, email, created_date, id) WHERE (email IS NOT NULL);

CREATE INDEX subscription_expiration ON public.subscription USING btree (tenant_id, expiration_date, id);

CREATE INDEX subscription_iccid ON public.subscription USING btree (tenant_id, iccid, created_date, id);

CREATE INDEX subscription_plan ON public.subscription USING btree (tenant_id, plan_id, created_date, id);

CREATE INDEX subscription_product ON public.subscription USING btree (tenant_id, product_id, created_date, id);

CREATE INDEX subscription_product_status ON public.subscription USING btree (tenant_id, product_id, status, created_date, id);

CREATE INDEX subscription_revision ON public.subscription USING btree (tenant_id, revision, id);

CREATE INDEX subscription_status ON public.subscription USING btree (tenant_id, status, created_date, id);

CREATE INDEX subscription_tombstone_revision ON public.subscription_tombstone USING btree (tenant_id, revision, id);

alter table import_rejection enable row level security;
alter table import_rejection force row level security;

alter table subscription enable row level security;
alter table subscription force row level security;

alter table subscription_import enable row level security;
alter table subscription_import force row level security;

alter table subscription_span enable row level security;
alter table subscription_span force row level security;

alter table subscription_tombstone enable row level security;
alter table subscription_tombstone force row level security;

create policy import_rejection_tenant on import_rejection for all
  using ((tenant_id = NULLIF(current_setting('app.tenant'::text, true), ''::text)))
  with check ((tenant_id = NULLIF(current_setting('app.tenant'::text, true), ''::text)));

create policy subscription_tenant on subscription for all
  using ((tenant_id = NULLIF(current_setting('app.tenant'::text, true), ''::text)))
  with check ((tenant_id = NULLIF(current_setting('app.tenant'::text, true), ''::text)));

create policy subscription_import_tenant on subscription_import for all
  using ((tenant_id = NULLIF(current_setting('app.tenant'::text, true), ''::text)))
  with check ((tenant_id = NULLIF(current_setting('app.tenant'::text, true), ''::text)));

create policy subscription_span_tenant on subscription_span for all
  using ((tenant_id = NULLIF(current_setting('app.tenant'::text, true), ''::text)))
  with check ((tenant_id = NULLIF(current_setting('app.tenant'::text, true), ''::text)));

create policy subscription_tombstone_tenant on subscription_tombstone for all
  using ((tenant_id = NULLIF(current_setting('app.tenant'::text, true), ''::text)))
  with check ((tenant_id = NULLIF(current_setting('app.tenant'::text, true), ''::text)));

CREATE OR REPLACE FUNCTION public.set_tenant(tenant text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format('set local app.tenant = %L', tenant);
end
$function$;
