CREATE TRIGGER audit_entry_keep before update on audit_entry begin select raise(abort, 'Cannot change the audit log: entries are only added'); end;

CREATE TRIGGER audit_entry_keep_id before insert on audit_entry when exists (select 1 from audit_entry where id = new.id) begin select raise(abort, 'Cannot replace an audit entry: entries are only added'); end;

CREATE TRIGGER audit_entry_keep_young before delete on audit_entry when old.recorded_at >= unixepoch() - 2592000 begin select raise(abort, 'Cannot delete an audit entry: it must be older than 30 days'); end;

CREATE TABLE audit_entry (
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

CREATE INDEX audit_entry_backup on audit_entry (recorded_at) where action = 'store.backup' and outcome = 'ok';

CREATE INDEX audit_entry_recorded on audit_entry (recorded_at);

CREATE TABLE auth_key (
  purpose text not null,
  sequence integer not null,
  kid text not null,
  alg text not null,
  jwk text not null,
  created_at integer not null,
  activates_at integer not null,
  primary key (purpose, sequence)
) strict;

CREATE TABLE client (
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

CREATE INDEX client_tenant on client (tenant_id, client_id);

CREATE TABLE client_secret (
  client_id text not null references client (client_id),
  hash text not null,
  created_at integer not null,
  expires_at integer,
  primary key (client_id, hash)
) strict;

CREATE TABLE doctor_result (
  id text not null primary key,
  started_at integer not null,
  finished_at integer not null,
  host text not null,
  version text not null,
  checks integer not null,
  problems integer not null,
  listed text not null
) strict, without rowid;

CREATE TABLE import_history (
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

CREATE INDEX import_history_result on import_history (result, id);

CREATE INDEX import_history_tenant on import_history (tenant_id, id);

CREATE TABLE import_latest (
  tenant_id text not null primary key,
  import_id text not null,
  good_at integer
) strict, without rowid;

CREATE TABLE import_rejection (
  tenant_id text not null references tenant (id),
  import_id text not null,
  row_lines text not null,
  primary key (tenant_id, import_id)
) strict, without rowid;

CREATE TABLE operator_session (
  sha256 text not null primary key,
  operator_id text not null references operator_token (id),
  started_at integer not null,
  used_at integer not null,
  expires_at integer not null,
  cap_at integer not null
) strict, without rowid;

CREATE INDEX operator_session_expires on operator_session (expires_at);

CREATE INDEX operator_session_operator on operator_session (operator_id, used_at);

CREATE TABLE operator_token (
  id text not null primary key,
  name text not null,
  scopes text not null,
  sha256 text not null unique,
  created_at integer not null,
  expires_at integer,
  last_used_at integer,
  revoked_at integer
) strict, without rowid;

CREATE TABLE refresh_family (
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

CREATE INDEX refresh_family_cap on refresh_family (cap_at);

CREATE INDEX refresh_family_expires on refresh_family (expires_at);

CREATE INDEX refresh_family_live on refresh_family (client_id, rotated_at) where revoked_at is null and expires_at > 0;

CREATE INDEX refresh_family_revoked on refresh_family (revoked_at) where revoked_at is not null;

CREATE INDEX refresh_family_rotated on refresh_family (client_id, rotated_at);

CREATE INDEX refresh_family_session on refresh_family (session_sha256) where session_sha256 is not null;

CREATE TABLE schema_migration (name text not null primary key, checksum text not null, oldest_schema text not null) strict;

CREATE TABLE subscription (
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

CREATE INDEX subscription_activation on subscription
  (tenant_id, activation_date, id, status, auto_renew, plan_id, created_date, expiration_date);

CREATE INDEX subscription_created on subscription
  (tenant_id, created_date, id, status, auto_renew, plan_id, activation_date, expiration_date);

CREATE INDEX subscription_device on subscription (tenant_id, device_id);

CREATE INDEX subscription_email on subscription (tenant_id, email) where email is not null;

CREATE INDEX subscription_expiration on subscription
  (tenant_id, expiration_date, id, status, auto_renew, plan_id, created_date, activation_date);

CREATE INDEX subscription_iccid on subscription (tenant_id, iccid);

CREATE INDEX subscription_product on subscription
  (tenant_id, product_id, created_date, id, status, auto_renew, plan_id, activation_date, expiration_date);

CREATE INDEX subscription_revision on subscription (tenant_id, revision, id, status, auto_renew, product_id, expiration_date);

CREATE INDEX subscription_status on subscription
  (tenant_id, status, created_date, id, auto_renew, plan_id, activation_date, expiration_date) where coalesce(status, '') <> 'EXPIRED';

CREATE TABLE subscription_commit (
  tenant_id text not null,
  revision integer not null,
  committed_at integer not null,
  import_id text,
  primary key (tenant_id, revision)
) strict, without rowid;

CREATE INDEX subscription_commit_time on subscription_commit (tenant_id, committed_at, revision);

CREATE TABLE subscription_erasure (
  tenant_id text not null,
  id text not null,
  from_revision integer not null,
  until_revision integer not null,
  primary key (tenant_id, id, until_revision)
) strict, without rowid;

CREATE TABLE subscription_span (
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

CREATE TABLE subscription_tombstone (
  tenant_id text not null references tenant (id),
  id text not null,
  revision integer not null,
  primary key (tenant_id, id)
) strict, without rowid;

CREATE INDEX subscription_tombstone_revision on subscription_tombstone (tenant_id, revision, id);

CREATE TABLE subscription_version (
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

CREATE INDEX subscription_version_until on subscription_version (tenant_id, until_revision, from_revision);

CREATE TABLE tenant (
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

CREATE INDEX tenant_history_due on tenant (id) where history_from > history_swept;

CREATE TABLE tenant_revision (
  tenant_id text not null references tenant (id) on delete cascade,
  -- Days since 1970-01-01 UTC.
  day integer not null,
  revision integer not null,
  -- 1 once the versions that ended up to the revision are deleted.
  is_swept integer not null default 0,
  primary key (tenant_id, day)
) strict, without rowid;

CREATE INDEX tenant_revision_day on tenant_revision (day, tenant_id);

CREATE INDEX tenant_revision_due on tenant_revision (day, tenant_id) where is_swept = 0;
