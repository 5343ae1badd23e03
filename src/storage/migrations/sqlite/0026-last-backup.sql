-- Oldest schema a program must know: 0004-imports
-- Finds the last backup in the audit log without reading the log.
create index audit_entry_backup on audit_entry (recorded_at) where action = 'store.backup' and outcome = 'ok';
