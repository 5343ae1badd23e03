-- Oldest schema a program must know: 0004-imports
-- Tombstones up to this revision are no longer complete: they were removed after TOMBSTONE_DAYS, or belong to the history
-- before a restore (docs/decisions/tombstones.md, docs/decisions/backups.md). A change token that is older is refused.
alter table tenant add column swept_revision bigint not null default 0;

-- Which revision a tenant had reached on a day (days since 1970-01-01 UTC): tells how old a tombstone is at least.
create table tenant_revision (
  tenant_id text collate "C" not null references tenant (id) on delete cascade,
  day bigint not null,
  revision bigint not null,
  primary key (tenant_id, day)
);

-- On a distributed engine, beside the tenants; elsewhere this does nothing.
do $$ begin
  if exists (select 1 from pg_extension where extname = 'citus') then
    perform create_distributed_table('tenant_revision', 'tenant_id', colocate_with => 'tenant');
  end if;
end $$;
