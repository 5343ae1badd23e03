-- Oldest schema a program must know: 0004-imports
-- Who did what to which tenant or client (docs/audit.md). Without references: an entry outlives its tenant and its client.
create table audit_entry (
  id integer not null primary key autoincrement,
  -- UTC epoch seconds.
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

-- Nobody changes an entry, and nobody deletes one of the last 30 days, the shortest retention.
create trigger audit_entry_keep before update on audit_entry begin select raise(abort, 'Cannot change the audit log: entries are only added'); end;

create trigger audit_entry_keep_young before delete on audit_entry when old.recorded_at >= unixepoch() - 2592000 begin select raise(abort, 'Cannot delete an audit entry: it must be older than 30 days'); end;

-- `insert or replace` would delete an entry without the trigger above.
create trigger audit_entry_keep_id before insert on audit_entry when exists (select 1 from audit_entry where id = new.id) begin select raise(abort, 'Cannot replace an audit entry: entries are only added'); end;
