import type { TenantSql } from '../store.ts';

/**
 * Statements that each remove up to `$2` rows of a tenant and return one row for each. They run in
 * this order: the counts are removed first, because they would no longer match the records.
 */
export const eraseStatements: readonly TenantSql[] = [
  `delete from subscription_span where tenant_id = $1 and (series, level, from_date, from_id) in (
     select series, level, from_date, from_id from subscription_span where tenant_id = $1 limit $2
   ) returning 1 as erased`,
  'delete from subscription where tenant_id = $1 and id in (select id from subscription where tenant_id = $1 limit $2) returning 1 as erased',
  `delete from subscription_tombstone where tenant_id = $1 and id in (
     select id from subscription_tombstone where tenant_id = $1 limit $2
   ) returning 1 as erased`,
  `delete from import_rejection where tenant_id = $1 and import_id in (
     select import_id from import_rejection where tenant_id = $1 limit $2
   ) returning 1 as erased`,
  'delete from subscription_import where tenant_id = $1 and cast($2 as bigint) > 0 returning 1 as erased',
];
