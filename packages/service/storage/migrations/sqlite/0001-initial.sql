-- Oldest schema a program must know: 0001-initial
-- All times are whole UTC epoch seconds, except where a comment says otherwise.

-- Tenants: the customers of the operator. Each client and each subscription belongs to one.
create table tenant (
  id text not null primary key,
  created_at integer not null,
  -- Grows with each committed change of the tenant's subscriptions.
  revision integer not null default 0,
  -- Tombstones up to this revision are no longer complete: they were removed after TOMBSTONE_DAYS, or belong to the history
  -- before a restore (docs/decisions/changes.md#tombstones). A change token that is older is rejected.
  swept_revision integer not null default 0,
  -- When the deletion of the tenant began, and when the last of its rows was gone; null for a tenant that is in use. Its name
  -- and revision stay: a tenant that gets the name later continues the revisions (docs/decisions/storage.md#deletion).
  deletion_started_at integer,
  deleted_at integer,
  -- Which revisions can be read as they were (docs/decisions/changes.md#history): from history_from, current since
  -- history_from_at, up to history_revision, committed at history_at. Null: none. If revision is not history_revision, a program
  -- that keeps no history has changed records since.
  history_from integer,
  history_from_at integer,
  history_revision integer,
  history_at integer,
  -- Versions that ended up to this revision are deleted; history_rows of them are stored.
  history_swept integer not null default 0,
  history_rows integer not null default 0,
  -- Bytes that the tenant is charged (docs/decisions/storage.md#budget): each commit adds its own.
  charged_bytes integer not null default 0,
  -- The revision in the newest row of tenant_revision, which has a row for a day only if the revision has changed.
  noted_revision integer,
  -- Which columns of CSV are which fields in imports of the tenant, as JSON. Null: none is saved.
  import_columns text
) strict;

-- Tenants with versions to delete.
create index tenant_history_due on tenant (id) where history_from > history_swept;

-- The revision that a tenant had reached on a day: tells how old a tombstone or a version is at least.
create table tenant_revision (
  tenant_id text not null references tenant (id) on delete cascade,
  -- Days since 1970-01-01 UTC.
  day integer not null,
  revision integer not null,
  -- 1 once the versions that ended up to the revision are deleted.
  is_swept integer not null default 0,
  primary key (tenant_id, day)
) strict, without rowid;

create index tenant_revision_day on tenant_revision (day, tenant_id);

create index tenant_revision_due on tenant_revision (day, tenant_id) where is_swept = 0;

-- Subscriptions: the record as the service sends it, beside the columns that filters and orders compare.
create table subscription (
  tenant_id text not null references tenant (id),
  id text not null,
  created_date integer not null,
  activation_date integer not null,
  expiration_date integer not null,
  status text,
  product_id text not null,
  plan_id text,
  iccid text not null,
  device_id text not null,
  -- The word in the record, 'true' or 'false'.
  auto_renew text not null,
  email text,
  record text not null,
  -- The tenant's revision that last changed it (docs/decisions/changes.md#changes).
  revision integer not null default 0,
  primary key (tenant_id, id)
) strict;

-- The queries of each index, and what it costs: docs/decisions/counts.md#indexes. Counting reads indexes alone, so the indexes of dates,
-- products and states have all columns that other filters compare.
-- With all that a summary of changes compares, which costs half as much without the rows.
create index subscription_revision on subscription (tenant_id, revision, id, status, auto_renew, product_id, expiration_date);

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

-- Counts of a tenant's subscriptions (docs/decisions/counts.md#counts). A series is 'all', in the order of created_date, 'activation' or
-- 'expiration', in the order of these dates, or 'product=' and an id. A row counts the records from its key to the next one of
-- its series and level; the first begins before every key. Level 0 is a leaf, 1 a group of leaves, 2 the whole series.
create table subscription_span (
  tenant_id text not null references tenant (id),
  series text not null,
  level integer not null,
  from_date integer not null,
  from_id text not null,
  n integer not null,
  -- A JSON object. A key is a status or 'none'; with '+', its records that renew automatically; '+' alone, all that do; in the
  -- series of a product, 'plan ' and a plan, those of the plan.
  counts text not null,
  primary key (tenant_id, series, level, from_date, from_id)
) strict, without rowid;

-- Subscriptions that were removed, and the revision that did it; a tombstone ends when the subscription returns.
create table subscription_tombstone (
  tenant_id text not null references tenant (id),
  id text not null,
  revision integer not null,
  primary key (tenant_id, id)
) strict, without rowid;

create index subscription_tombstone_revision on subscription_tombstone (tenant_id, revision, id);

-- Subscriptions as they were from one revision until before another one, which updated or removed them.
create table subscription_version (
  tenant_id text not null,
  id text not null,
  from_revision integer not null,
  until_revision integer not null,
  created_date integer not null,
  activation_date integer not null,
  expiration_date integer not null,
  status text,
  product_id text not null,
  plan_id text,
  iccid text not null,
  device_id text not null,
  auto_renew text not null,
  email text,
  record text not null,
  primary key (tenant_id, id, until_revision)
) strict;

-- The index also says when a version began: versions within a period are found without reading the others.
create index subscription_version_until on subscription_version (tenant_id, until_revision, from_revision);

-- When a revision was committed, and the import that made it.
create table subscription_commit (
  tenant_id text not null,
  revision integer not null,
  committed_at integer not null,
  import_id text,
  primary key (tenant_id, revision)
) strict, without rowid;

create index subscription_commit_time on subscription_commit (tenant_id, committed_at, revision);

-- Versions that have been erased, of which only the id and the revisions are left.
create table subscription_erasure (
  tenant_id text not null,
  id text not null,
  from_revision integer not null,
  until_revision integer not null,
  primary key (tenant_id, id, until_revision)
) strict, without rowid;

-- The first rejected rows of an import as NDJSON. They quote values of the tenant's records.
create table import_rejection (
  tenant_id text not null references tenant (id),
  import_id text not null,
  row_lines text not null,
  primary key (tenant_id, import_id)
) strict, without rowid;

-- The history of imports (docs/operators/import.md#history): a row for each that began. The id begins with the time, so that ids are in the
-- order of the starts. The result is running, ok, failed or interrupted; the counts are null until the import has ended.
create table import_history (
  id text not null primary key,
  tenant_id text not null,
  started_at integer not null,
  ended_at integer,
  actor_kind text not null,
  actor_id text not null,
  actor_name text,
  address text,
  via text not null,
  format text not null,
  options text not null,
  -- Which columns of CSV were which fields, as JSON. Null: each had the name of its field.
  import_columns text,
  result text not null,
  error text,
  rows_read integer,
  rejected integer,
  inserted integer,
  updated integer,
  unchanged integer,
  removed integer,
  revision integer
) strict, without rowid;

create index import_history_tenant on import_history (tenant_id, id);

create index import_history_result on import_history (result, id);

-- The newest import of a tenant that was not a dry run, and when one last ended without a rejected row.
create table import_latest (
  tenant_id text not null primary key,
  import_id text not null,
  good_at integer
) strict, without rowid;

-- Clients: who may request a token. Grants and scopes are separated by spaces.
create table client (
  client_id text not null primary key,
  tenant_id text not null references tenant (id),
  grants text not null,
  scopes text not null,
  created_at integer not null,
  disabled_at integer,
  -- When it last got a token, to the minute.
  last_used_at integer,
  -- Access tokens issued, and refresh families started, until then are rejected; null if none was revoked.
  tokens_revoked_at integer,
  -- 'rotate' or 'reuse'; null for the setting of the service.
  refresh_token_use text,
  -- Requests per minute; 0 for no limit, null for the setting of the service.
  rate_limit_per_minute integer,
  -- What people call the client, such as "Finance, Acme"; null if it has no name.
  name text
) strict;

create index client_tenant on client (tenant_id, client_id);

-- Secrets of clients, hashed: two valid ones while a client moves from the old to the new.
create table client_secret (
  client_id text not null references client (client_id),
  hash text not null,
  created_at integer not null,
  expires_at integer,
  primary key (client_id, hash)
) strict;

-- Refresh families: one row for all generations of a refresh token (RFC 9700 section 4.14.2), and one for a session of the console,
-- which is a family without tokens (docs/decisions/console.md#console-sessions).
create table refresh_family (
  client_id text not null references client (client_id),
  id text not null,
  scope text not null,
  generation integer not null,
  rotated_at integer not null,
  -- When the newest refresh token expires; 0 for a family that was trimmed.
  expires_at integer not null,
  cap_at integer not null,
  revoked_at integer,
  started_at integer not null,
  -- When its last access token expires. The row stays until then, so that the token can be revoked.
  access_ends_at integer not null,
  -- The SHA-256 of a session's id, which is 256 random bits; null for a family of tokens.
  session_sha256 text,
  primary key (client_id, id)
) strict;

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
  purpose text not null,
  sequence integer not null,
  kid text not null,
  alg text not null,
  jwk text not null,
  created_at integer not null,
  activates_at integer not null,
  primary key (purpose, sequence)
) strict;

-- Access tokens of operators (docs/operators/operator.md). Only the SHA-256 of a token is stored: 256 random bits cannot be guessed.
-- Scopes are separated by spaces.
create table operator_token (
  id text not null primary key,
  name text not null,
  scopes text not null,
  sha256 text not null unique,
  created_at integer not null,
  expires_at integer,
  last_used_at integer,
  revoked_at integer
) strict, without rowid;

-- Sessions of the operator's console. Each belongs to an operator's token and ends with it.
create table operator_session (
  sha256 text not null primary key,
  operator_id text not null references operator_token (id),
  started_at integer not null,
  used_at integer not null,
  expires_at integer not null,
  cap_at integer not null
) strict, without rowid;

create index operator_session_expires on operator_session (expires_at);

create index operator_session_operator on operator_session (operator_id, used_at);

-- The result of the last check of the store (subreport doctor): one row.
create table doctor_result (
  id text not null primary key,
  started_at integer not null,
  finished_at integer not null,
  host text not null,
  version text not null,
  checks integer not null,
  problems integer not null,
  listed text not null
) strict, without rowid;

-- The audit log: who did what to which tenant or client (docs/operators/audit.md). Without references: an entry outlives its tenant and its
-- client.
create table audit_entry (
  id integer not null primary key autoincrement,
  recorded_at integer not null,
  actor_kind text not null,
  actor_id text,
  actor_name text,
  address text,
  action text not null,
  tenant text,
  client_id text,
  outcome text not null,
  -- Error code of an action that was refused or failed.
  error text,
  correlation_id text,
  -- A JSON object.
  details text not null check (length(details) <= 2000)
) strict;

create index audit_entry_recorded on audit_entry (recorded_at);

-- Finds the last backup without reading the log.
create index audit_entry_backup on audit_entry (recorded_at) where action = 'store.backup' and outcome = 'ok';

-- Nobody changes an entry, and nobody deletes one of the last 30 days, the shortest retention.
create trigger audit_entry_keep before update on audit_entry begin select raise(abort, 'Cannot change the audit log: entries are only added'); end;

create trigger audit_entry_keep_young before delete on audit_entry when old.recorded_at >= unixepoch() - 2592000 begin select raise(abort, 'Cannot delete an audit entry: it must be older than 30 days'); end;

-- `insert or replace` would delete an entry without the trigger above.
create trigger audit_entry_keep_id before insert on audit_entry when exists (select 1 from audit_entry where id = new.id) begin select raise(abort, 'Cannot replace an audit entry: entries are only added'); end;

-- Without figures, SQLite expects as many records of a status as of a SIM. These are fixed: records in all, then with the
-- same first column, the same two columns, and so on.
analyze sqlite_schema;

insert into sqlite_stat1 (tbl, idx, stat) values
  ('subscription', 'sqlite_autoindex_subscription_1', '1000000 20000 1'),
  ('subscription', 'subscription_device', '1000000 20000 3'),
  ('subscription', 'subscription_email', '1000000 20000 10'),
  ('subscription', 'subscription_iccid', '1000000 20000 3'),
  ('subscription', 'subscription_revision', '1000000 20000 500 1'),
  ('subscription', 'subscription_activation', '1000000 20000 2 1 1 1 1 1 1'),
  ('subscription', 'subscription_created', '1000000 20000 2 1 1 1 1 1 1'),
  ('subscription', 'subscription_expiration', '1000000 20000 2 1 1 1 1 1 1'),
  ('subscription', 'subscription_product', '1000000 20000 800 2 1 1 1 1 1 1');

analyze sqlite_schema;
