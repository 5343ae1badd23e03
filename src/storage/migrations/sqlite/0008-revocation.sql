-- Oldest schema a program must know: 0004-imports
-- Access tokens issued, and refresh families started, until then are refused. UTC epoch seconds; null when none was revoked.
alter table client add column tokens_revoked_at integer;

-- 'rotate' or 'reuse'; null for the setting of the service.
alter table client add column refresh_token_use text;

-- When the family began; null for one that began before this migration.
alter table refresh_family add column started_at integer;

-- When its last access token expires; null as above. The row stays until then, so that the token can be revoked.
alter table refresh_family add column access_ends_at integer;

-- The families that can be refreshed; a family that was trimmed has expires_at 0.
create index refresh_family_live on refresh_family (client_id, rotated_at) where revoked_at is null and expires_at > 0;

create index refresh_family_expires on refresh_family (expires_at);
