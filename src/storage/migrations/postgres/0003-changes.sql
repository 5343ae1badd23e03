-- The tenant's revision that last changed a subscription, for those who follow the changes (docs/decisions/changes.md). What was there before this
-- migration counts as changed by revision 0.
alter table subscription add column revision bigint not null default 0;

create index subscription_revision on subscription (tenant_id, revision, id);

-- A subscription that was removed, and the revision that did it; gone again when the subscription returns.
create table subscription_tombstone (
  tenant_id text collate "C" not null references tenant (id),
  id text collate "C" not null,
  revision bigint not null,
  primary key (tenant_id, id)
);

create index subscription_tombstone_revision on subscription_tombstone (tenant_id, revision, id);

-- On a distributed engine, beside the subscriptions; elsewhere this does nothing.
do $$ begin
  if exists (select 1 from pg_extension where extname = 'citus') then
    perform create_distributed_table('subscription_tombstone', 'tenant_id', colocate_with => 'tenant');
  end if;
end $$;

alter table subscription_tombstone enable row level security;
alter table subscription_tombstone force row level security;

create policy subscription_tombstone_tenant on subscription_tombstone
  using (tenant_id = nullif(current_setting('app.tenant', true), ''))
  with check (tenant_id = nullif(current_setting('app.tenant', true), ''));
