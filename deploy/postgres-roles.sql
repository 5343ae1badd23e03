-- Least-privilege roles for PostgreSQL 15 to 18 (docs/operators/operating.md, Roles). Run as a superuser in the
-- database of the service, once before the first migration and again after each migration:
--   psql --set ON_ERROR_STOP=1 --dbname subreport --file deploy/postgres-roles.sql
-- Then set passwords with \password, or use client certificates.
--
--   subreport_owner    owns the tables; runs migrate and restore
--   subreport_service  reads and writes rows; runs serve and all other commands
--   subreport_backup   reads rows; runs backup

begin;

do $$ begin
  if to_regrole('subreport_owner') is null then create role subreport_owner login; end if;
  if to_regrole('subreport_service') is null then create role subreport_service login; end if;
  if to_regrole('subreport_backup') is null then create role subreport_backup login; end if;
end $$;

do $$ declare
  database name := current_database();
begin
  execute format('alter database %I owner to subreport_owner', database);
  execute format('revoke all on database %I from public', database);
  -- replacements stage their rows in temporary tables
  execute format('grant connect, temporary on database %I to subreport_service', database);
  execute format('grant connect on database %I to subreport_backup', database);
end $$;

revoke all on schema public from public;
grant create, usage on schema public to subreport_owner;
grant usage on schema public to subreport_service, subreport_backup;
alter role subreport_backup set default_transaction_read_only = on;

-- Between a migration and the next run of this file, its new tables are usable.
alter default privileges for role subreport_owner in schema public
  grant select, insert, update, delete on tables to subreport_service;
alter default privileges for role subreport_owner in schema public
  grant select on tables to subreport_backup;

-- What the service may do with each table. Row-level security limits the rows of tenants.
do $$ declare
  rights constant jsonb := '{
    "audit_entry": "select, insert",
    "auth_key": "select, insert, update, delete",
    "client": "select, insert, update, delete",
    "client_secret": "select, insert, update, delete",
    "doctor_result": "select, insert, update, delete",
    "import_history": "select, insert, update, delete",
    "import_latest": "select, insert, update, delete",
    "import_rejection": "select, insert, update, delete",
    "operator_session": "select, insert, update, delete",
    "operator_token": "select, insert, update",
    "refresh_family": "select, insert, update, delete",
    "schema_migration": "select",
    "subscription": "select, insert, update, delete",
    "subscription_commit": "select, insert, update, delete",
    "subscription_erasure": "select, insert, update, delete",
    "subscription_span": "select, insert, update, delete",
    "subscription_tombstone": "select, insert, update, delete",
    "subscription_version": "select, insert, update, delete",
    "tenant": "select, insert, update",
    "tenant_revision": "select, insert, update, delete"
  }';
  item record;
begin
  for item in select key as name, value as granted from jsonb_each_text(rights) loop
    continue when to_regclass(item.name) is null; -- before the first migration
    execute format('alter table %I owner to subreport_owner', item.name);
    execute format('revoke all on %I from subreport_service, subreport_backup', item.name);
    execute format('grant %s on %I to subreport_service', item.granted, item.name);
    execute format('grant select on %I to subreport_backup', item.name);
  end loop;
  if to_regprocedure('set_tenant(text)') is not null then
    alter function set_tenant(text) owner to subreport_owner;
  end if;
  -- the only way for the service to delete entries of the audit log, after 30 days or more
  if to_regprocedure('sweep_audit_entries(bigint, integer)') is not null then
    alter function sweep_audit_entries(bigint, integer) owner to subreport_owner;
    grant execute on function sweep_audit_entries(bigint, integer) to subreport_service;
  end if;
end $$;

commit;
