// Statements that change a tenant's subscriptions, as far as they are the same on both engines.

export const selectRevision = 'select revision from tenant where id = $1';

export const setRevision = 'update tenant set revision = $2 where id = $1';

export const someTombstone = 'select 1 as found from subscription_tombstone where tenant_id = $1 limit 1';
