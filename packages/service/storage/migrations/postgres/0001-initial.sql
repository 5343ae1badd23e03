-- Oldest schema a program must know: 0001-initial
-- All times are whole UTC epoch seconds, except where a comment says otherwise. Text is compared by its bytes ("C").
-- Tables that are marked "by tenant" are distributed on Citus and have row-level security; both are set up at the end.

-- Tenants: the customers of the operator. Each client and each subscription belongs to one.
create table tenant (
  id text collate "C" not null primary key,
  created_at bigint not null,
  -- Grows with each committed change of the tenant's subscriptions.
  revision bigint not null default 0,
  -- Tombstones up to this revision are no longer complete: they were removed after TOMBSTONE_DAYS, or belong to the history
  -- before a restore (docs/decisions/changes.md#tombstones). A change token that is older is rejected.
  swept_revision bigint not null default 0,
  -- When the deletion of the tenant began, and when the last of its rows was gone; null for a tenant that is in use. Its name
  -- and revision stay: a tenant that gets the name later continues the revisions (docs/decisions/storage.md#deletion).
  deletion_started_at bigint,
  deleted_at bigint,
  -- Which revisions can be read as they were (docs/decisions/changes.md#history): from history_from, current since
  -- history_from_at, up to history_revision, committed at history_at. Null: none. If revision is not history_revision, a program
  -- that keeps no history has changed records since.
  history_from bigint,
  history_from_at bigint,
  history_revision bigint,
  history_at bigint,
  -- Versions that ended up to this revision are deleted; history_rows of them are stored.
  history_swept bigint not null default 0,
  history_rows bigint not null default 0,
  -- Bytes that the tenant is charged (docs/decisions/storage.md#budget): each commit adds its own.
  charged_bytes bigint not null default 0,
  -- The revision in the newest row of tenant_revision, which has a row for a day only if the revision has changed.
  noted_revision bigint,
  -- Which columns of CSV are which fields in imports of the tenant, as JSON. Null: none is saved.
  import_columns text
);

-- Tenants with versions to delete.
create index tenant_history_due on tenant (id) where history_from > history_swept;

-- The revision that a tenant had reached on a day: tells how old a tombstone or a version is at least. By tenant, without
-- row-level security.
create table tenant_revision (
  tenant_id text collate "C" not null references tenant (id) on delete cascade,
  -- Days since 1970-01-01 UTC.
  day bigint not null,
  revision bigint not null,
  -- 1 once the versions that ended up to the revision are deleted.
  is_swept bigint not null default 0,
  primary key (tenant_id, day)
);

create index tenant_revision_day on tenant_revision (day, tenant_id);

create index tenant_revision_due on tenant_revision (day, tenant_id) where is_swept = 0;

-- Subscriptions: the record as the service sends it, beside the columns that filters and orders compare. By tenant, but without a
-- foreign key to it: each program locks the tenant of the records that it writes, and none deletes a tenant
-- (docs/decisions/imports.md#imports).
create table subscription (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  created_date bigint not null,
  activation_date bigint not null,
  expiration_date bigint not null,
  status text collate "C",
  product_id text collate "C" not null,
  plan_id text collate "C",
  iccid text collate "C" not null,
  device_id text collate "C" not null,
  -- The word in the record, 'true' or 'false'.
  auto_renew text collate "C" not null,
  email text collate "C",
  record text collate "C" not null,
  -- The tenant's revision that last changed it (docs/decisions/changes.md#changes).
  revision bigint not null default 0,
  primary key (tenant_id, id)
);

-- The queries of each index, and what it costs: docs/decisions/counts.md#indexes. Counting reads indexes alone, so the indexes of dates,
-- products and states have all columns that other filters compare.
-- With all that a summary of changes compares, which costs half as much without the rows.
create index subscription_revision on subscription (tenant_id, revision, id) include (status, auto_renew, product_id, expiration_date);

create index subscription_iccid on subscription (tenant_id, iccid);

create index subscription_device on subscription (tenant_id, device_id);

create index subscription_email on subscription (tenant_id, email) where email is not null;

create index subscription_created on subscription
  (tenant_id, created_date, id, status, auto_renew, plan_id, activation_date, expiration_date);

create index subscription_activation on subscription
  (tenant_id, activation_date, id, status, auto_renew, plan_id, created_date, expiration_date);

create index subscription_expiration on subscription
  (tenant_id, expiration_date, id, status, auto_renew, plan_id, created_date, activation_date);

create index subscription_product on subscription
  (tenant_id, product_id, created_date, id, status, auto_renew, plan_id, activation_date, expiration_date);

-- Records that have expired are most of an old tenant, and are found in the other indexes.
create index subscription_status on subscription
  (tenant_id, status, created_date, id, auto_renew, plan_id, activation_date, expiration_date) where coalesce(status, '') <> 'EXPIRED';

-- Counts of a tenant's subscriptions (docs/decisions/counts.md#counts), by tenant. A series is 'all', in the order of created_date, 'activation' or
-- 'expiration', in the order of these dates, or 'product=' and an id. A row counts the records from its key to the next one of
-- its series and level; the first begins before every key. Level 0 is a leaf, 1 a group of leaves, 2 the whole series. Pages keep
-- room, so that a new count takes the place of the old one beside it.
create table subscription_span (
  tenant_id text collate "C" not null,
  series text collate "C" not null,
  level bigint not null,
  from_date bigint not null,
  from_id text collate "C" not null,
  n bigint not null,
  -- A JSON object. A key is a status or 'none'; with '+', its records that renew automatically; '+' alone, all that do; in the
  -- series of a product, 'plan ' and a plan, those of the plan.
  counts jsonb not null,
  primary key (tenant_id, series, level, from_date, from_id)
) with (fillfactor = 60);

-- Subscriptions that were removed, and the revision that did it; a tombstone ends when the subscription returns. By tenant.
create table subscription_tombstone (
  tenant_id text collate "C" not null references tenant (id),
  id text collate "C" not null,
  revision bigint not null,
  primary key (tenant_id, id)
);

create index subscription_tombstone_revision on subscription_tombstone (tenant_id, revision, id);

-- Subscriptions as they were from one revision until before another one, which updated or removed them. By tenant.
create table subscription_version (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  from_revision bigint not null,
  until_revision bigint not null,
  created_date bigint not null,
  activation_date bigint not null,
  expiration_date bigint not null,
  status text collate "C",
  product_id text collate "C" not null,
  plan_id text collate "C",
  iccid text collate "C" not null,
  device_id text collate "C" not null,
  auto_renew text collate "C" not null,
  email text collate "C",
  record text collate "C" not null,
  primary key (tenant_id, id, until_revision)
);

-- The index also says when a version began: versions within a period are found without reading the others.
create index subscription_version_until on subscription_version (tenant_id, until_revision, from_revision);

-- When a revision was committed, and the import that made it. By tenant.
create table subscription_commit (
  tenant_id text collate "C" not null,
  revision bigint not null,
  committed_at bigint not null,
  import_id text collate "C",
  primary key (tenant_id, revision)
);

create index subscription_commit_time on subscription_commit (tenant_id, committed_at, revision);

-- Versions that have been erased, of which only the id and the revisions are left. By tenant.
create table subscription_erasure (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  from_revision bigint not null,
  until_revision bigint not null,
  primary key (tenant_id, id, until_revision)
);

-- The first rejected rows of an import as NDJSON. They quote values of the tenant's records. By tenant.
create table import_rejection (
  tenant_id text collate "C" not null references tenant (id),
  import_id text collate "C" not null,
  row_lines text not null,
  primary key (tenant_id, import_id)
);

-- The history of imports (docs/operators/import.md#history): a row for each that began. The id begins with the time, so that ids are in the
-- order of the starts. The result is running, ok, failed or interrupted; the counts are null until the import has ended. It is not
-- distributed on Citus, so that an operator can read it while a worker is down.
create table import_history (
  id text collate "C" not null primary key,
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
  -- Which columns of CSV were which fields, as JSON. Null: each had the name of its field.
  import_columns text,
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

create index import_history_tenant on import_history (tenant_id, id);

create index import_history_result on import_history (result, id);

-- The newest import of a tenant that was not a dry run, and when one last ended without a rejected row.
create table import_latest (
  tenant_id text collate "C" not null primary key,
  import_id text collate "C" not null,
  good_at bigint
);

-- Clients: who may request a token. Grants and scopes are separated by spaces.
create table client (
  client_id text collate "C" not null primary key,
  tenant_id text collate "C" not null,
  grants text not null,
  scopes text not null,
  created_at bigint not null,
  disabled_at bigint,
  -- When it last got a token, to the minute.
  last_used_at bigint,
  -- Access tokens issued, and refresh families started, until then are rejected; null if none was revoked.
  tokens_revoked_at bigint,
  -- 'rotate' or 'reuse'; null for the setting of the service.
  refresh_token_use text,
  -- Requests per minute; 0 for no limit, null for the setting of the service.
  rate_limit_per_minute integer,
  -- What people call the client, such as "Finance, Acme"; null if it has no name.
  name text
);

create index client_tenant on client (tenant_id, client_id);

-- Secrets of clients, hashed: two valid ones while a client moves from the old to the new.
create table client_secret (
  client_id text collate "C" not null references client (client_id),
  hash text collate "C" not null,
  created_at bigint not null,
  expires_at bigint,
  primary key (client_id, hash)
);

-- Refresh families: one row for all generations of a refresh token (RFC 9700 section 4.14.2), and one for a session of the console,
-- which is a family without tokens (docs/decisions/console.md#console-sessions).
create table refresh_family (
  client_id text collate "C" not null references client (client_id),
  id text collate "C" not null,
  scope text not null,
  generation bigint not null,
  rotated_at bigint not null,
  -- When the newest refresh token expires; 0 for a family that was trimmed.
  expires_at bigint not null,
  cap_at bigint not null,
  revoked_at bigint,
  started_at bigint not null,
  -- When its last access token expires. The row stays until then, so that the token can be revoked.
  access_ends_at bigint not null,
  -- The SHA-256 of a session's id, which is 256 random bits; null for a family of tokens.
  session_sha256 text collate "C",
  primary key (client_id, id)
);

create index refresh_family_cap on refresh_family (cap_at);

create index refresh_family_rotated on refresh_family (client_id, rotated_at);

create index refresh_family_revoked on refresh_family (revoked_at) where revoked_at is not null;

-- The families that can be refreshed.
create index refresh_family_live on refresh_family (client_id, rotated_at) where revoked_at is null and expires_at > 0;

create index refresh_family_expires on refresh_family (expires_at);

create index refresh_family_session on refresh_family (session_sha256) where session_sha256 is not null;

-- Keys of the service: those of the purpose 'access' sign access tokens, those of 'refresh' protect refresh tokens. Every process
-- knows a key before it is used, from activates_at on. The JWK is encrypted if KEY_ENCRYPTION_SECRET is set.
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

-- Access tokens of operators (docs/operators/operator.md). Only the SHA-256 of a token is stored: 256 random bits cannot be guessed.
-- Scopes are separated by spaces.
create table operator_token (
  id text collate "C" not null primary key,
  name text collate "C" not null,
  scopes text not null,
  sha256 text collate "C" not null unique,
  created_at bigint not null,
  expires_at bigint,
  last_used_at bigint,
  revoked_at bigint
);

-- Sessions of the operator's console. Each belongs to an operator's token and ends with it.
create table operator_session (
  sha256 text collate "C" not null primary key,
  operator_id text collate "C" not null references operator_token (id),
  started_at bigint not null,
  used_at bigint not null,
  expires_at bigint not null,
  cap_at bigint not null
);

create index operator_session_expires on operator_session (expires_at);

create index operator_session_operator on operator_session (operator_id, used_at);

-- The result of the last check of the store (subreport doctor): one row.
create table doctor_result (
  id text collate "C" not null primary key,
  started_at bigint not null,
  finished_at bigint not null,
  host text not null,
  version text not null,
  checks bigint not null,
  problems bigint not null,
  listed text not null
);

-- The audit log: who did what to which tenant or client (docs/operators/audit.md). Without references: an entry outlives its tenant and its
-- client.
create table audit_entry (
  id bigint generated by default as identity primary key,
  recorded_at bigint not null,
  actor_kind text collate "C" not null,
  actor_id text collate "C",
  actor_name text collate "C",
  address text collate "C",
  action text collate "C" not null,
  tenant text collate "C",
  client_id text collate "C",
  outcome text collate "C" not null,
  -- Error code of an action that was refused or failed.
  error text collate "C",
  correlation_id text collate "C",
  -- A JSON object.
  details text collate "C" not null check (length(details) <= 2000)
);

create index audit_entry_recorded on audit_entry (recorded_at);

-- Finds the last backup without reading the log.
create index audit_entry_backup on audit_entry (recorded_at) where action = 'store.backup' and outcome = 'ok';

-- Ids follow the order of the commits, so that a reader that continues after an id misses no entry.
create function audit_entry_in_order() returns trigger language plpgsql as $$ begin
  perform pg_advisory_xact_lock(7236119411);
  return null;
end $$;

create trigger audit_entry_in_order before insert on audit_entry
  for each statement execute function audit_entry_in_order();

-- Nobody changes an entry, and nobody deletes one of the last 30 days, the shortest retention.
create function audit_entry_keep() returns trigger language plpgsql as $$ begin
  if tg_op = 'DELETE' then
    if old.recorded_at < extract(epoch from now()) - 2592000 then return old; end if;
  end if;
  raise exception 'Cannot change the audit log: entries are only added, and deleted after 30 days or more'
    using errcode = 'restrict_violation';
end $$;

create trigger audit_entry_keep before update or delete on audit_entry
  for each row execute function audit_entry_keep();

create trigger audit_entry_keep_all before truncate on audit_entry
  for each statement execute function audit_entry_keep();

-- The only way to delete entries for a role that may only read and add them.
do $$ begin
  execute format(
    'create function sweep_audit_entries(expired_before bigint, entries_max integer) returns bigint
     language sql security definer set search_path = %I, pg_temp as %L',
    current_schema(),
    'with swept as (
       delete from audit_entry where id in (
         select id from audit_entry where recorded_at < expired_before order by recorded_at limit entries_max
       ) returning 1
     ) select count(*) from swept'
  );
end $$;

revoke all on function sweep_audit_entries(bigint, integer) from public;

-- The tenant of a transaction, for row-level security. SET LOCAL as its own statement is what Citus forwards to its workers.
create function set_tenant(tenant text) returns void language plpgsql as $$
begin
  execute format('set local app.tenant = %L', tenant);
end
$$;

-- A second barrier beside the tenant in every statement: without a tenant, no row is visible. FORCE applies it to the owner too.
do $$ declare secured text; begin
  foreach secured in array array[
    'subscription', 'subscription_span', 'subscription_tombstone', 'subscription_version', 'subscription_commit',
    'subscription_erasure', 'import_rejection'
  ] loop
    execute format('alter table %I enable row level security', secured);
    execute format('alter table %I force row level security', secured);
    execute format(
      'create policy %I on %I using (tenant_id = nullif(current_setting(''app.tenant'', true), ''''))
       with check (tenant_id = nullif(current_setting(''app.tenant'', true), ''''))',
      secured || '_tenant', secured
    );
  end loop;
end $$;

-- No statistics of a tenant's values: with them, the planner takes a tenant that was loaded since the last ANALYZE for an empty
-- one, and reads all of it for each record (docs/decisions/storage.md#statistics). Without them, it plans by the size of the table.
do $$ declare known record; begin
  for known in select attrelid::regclass as secured, attname from pg_attribute where attnum > 0 and attrelid = any(array[
    'subscription', 'subscription_span', 'subscription_tombstone', 'subscription_version', 'subscription_commit',
    'subscription_erasure'
  ]::regclass[]) loop
    execute format('alter table %s alter column %I set statistics 0', known.secured, known.attname);
  end loop;
end $$;

-- On Citus, all rows of a tenant are on one worker; other tables stay on the coordinator. Elsewhere this does nothing.
do $$ begin
  if exists (select 1 from pg_extension where extname = 'citus') then
    perform create_distributed_table('tenant', 'id', colocate_with => 'none', shard_count => 8);
    perform create_distributed_table('tenant_revision', 'tenant_id', colocate_with => 'tenant');
    perform create_distributed_table('subscription', 'tenant_id', colocate_with => 'tenant');
    perform create_distributed_table('subscription_span', 'tenant_id', colocate_with => 'tenant');
    perform create_distributed_table('subscription_tombstone', 'tenant_id', colocate_with => 'tenant');
    perform create_distributed_table('subscription_version', 'tenant_id', colocate_with => 'tenant');
    perform create_distributed_table('subscription_commit', 'tenant_id', colocate_with => 'tenant');
    perform create_distributed_table('subscription_erasure', 'tenant_id', colocate_with => 'tenant');
    perform create_distributed_table('import_rejection', 'tenant_id', colocate_with => 'tenant');
  end if;
end $$;
