-- Oldest schema a program must know: 0001-initial

-- The index also says when a version began: versions within a period are found without reading the others.
drop index subscription_version_until;
create index subscription_version_until on subscription_version (tenant_id, until_revision, from_revision);
