import type { TenantSql } from '../store.ts';

/**
 * Statements that remove up to `$2` rows of a tenant each, one table after the other: the counts
 * first, as they are those of all its records. Each returns a row for every row that it removed.
 */
export const eraseStatements: readonly TenantSql[] = [
  `delete from subscription_span where tenant_id = $1 and (series, level, from_date, from_id) in (
     select series, level, from_date, from_id from subscription_span where tenant_id = $1 limit $2
   ) returning 1 as erased`,
  'delete from subscription where tenant_id = $1 and id in (select id from subscription where tenant_id = $1 limit $2) returning 1 as erased',
  `delete from subscription_tombstone where tenant_id = $1 and id in (
     select id from subscription_tombstone where tenant_id = $1 limit $2
   ) returning 1 as erased`,
  'delete from subscription_import where tenant_id = $1 and cast($2 as bigint) > 0 returning 1 as erased',
];
