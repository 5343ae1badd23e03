-- Oldest schema a program must know: 0004-imports
-- Contract: each program locks the tenant of the records that it writes, and none deletes a tenant.
-- A foreign key looks the tenant up again for each record (docs/decisions/imports.md).
alter table subscription drop constraint if exists subscription_tenant_id_fkey;

alter table subscription_span drop constraint if exists subscription_span_tenant_id_fkey;
