-- How far the unfinished import of a tenant has come, committed with its rows, so that a killed one goes on from there (docs/decisions/imports.md).
create table subscription_import (
  tenant_id text collate "C" not null primary key references tenant (id),
  bytes bigint not null,
  sha256 text not null,
  format text not null,
  rows_read bigint not null,
  rejected bigint not null,
  inserted bigint not null,
  updated bigint not null,
  unchanged bigint not null
);

-- On a distributed engine, beside the subscriptions; elsewhere this does nothing.
do $$ begin
  if exists (select 1 from pg_extension where extname = 'citus') then
    perform create_distributed_table('subscription_import', 'tenant_id', colocate_with => 'tenant');
  end if;
end $$;

alter table subscription_import enable row level security;
alter table subscription_import force row level security;

create policy subscription_import_tenant on subscription_import
  using (tenant_id = nullif(current_setting('app.tenant', true), ''))
  with check (tenant_id = nullif(current_setting('app.tenant', true), ''));
