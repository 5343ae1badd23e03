-- Oldest schema a program must know: 0004-imports
-- Requests per minute; 0 for no limit, null for the setting of the service.
alter table client add column rate_limit_per_minute integer;
