-- The tenant's revision that last changed a subscription, for those who follow the changes (docs/decisions/changes.md). What was there before this
-- migration counts as changed by revision 0.
alter table subscription add column revision integer not null default 0;

create index subscription_revision on subscription (tenant_id, revision, id);

-- A subscription that was removed, and the revision that did it; gone again when the subscription returns.
create table subscription_tombstone (
  tenant_id text not null references tenant (id),
  id text not null,
  revision integer not null,
  primary key (tenant_id, id)
) strict, without rowid;

create index subscription_tombstone_revision on subscription_tombstone (tenant_id, revision, id);
