import {
  type DirectoryStatement,
  directoryStatement,
  type Store,
  type TenantId,
  type TenantReader,
  type TenantSql,
} from '../store.ts';
import { deleteImportsOf } from './import-history.ts';

/**
 * Begins or continues the deletion of a tenant: the tenant can no longer be found by its name, and
 * its clients and their tokens are removed. Returns the number of clients removed.
 */
export async function beginDeletion(store: Store, tenant: TenantId, nowSeconds: number): Promise<number> {
  const results = await store.writeDirectory(
    [
      directoryStatement(
        'update tenant set deletion_started_at = $2 where id = $1 and deletion_started_at is null and deleted_at is null',
        [tenant, nowSeconds],
      ),
      ...deleteClientsOf(tenant),
    ],
    { announce: true },
  );
  return results.at(-1)?.length ?? 0;
}

/** Whether the tenant of a snapshot is being deleted, or was. */
export async function isBeingDeleted(reader: TenantReader): Promise<boolean> {
  const rows = await reader.all(
    `select 1 as found from (select id as tenant_id, deletion_started_at from tenant) as t
     where tenant_id = $1 and deletion_started_at is not null`,
  );
  return rows.length > 0;
}

/** Finishes the deletion of a tenant without rows; the name becomes available again. */
export async function finishDeletion(store: Store, tenant: TenantId, nowSeconds: number): Promise<void> {
  await store.writeDirectory(
    [
      ...deleteClientsOf(tenant), // one may have been created while the deletion began
      ...deleteImportsOf(tenant),
      directoryStatement('delete from tenant_revision where tenant_id = $1', [tenant]),
      directoryStatement(finish, [tenant, nowSeconds]),
    ],
    { announce: true },
  );
}

const finish =
  'update tenant set deleted_at = $2, import_columns = null, history_rows = 0, history_from = revision, charged_bytes = 0 where id = $1' as const;

/** The statements that remove the clients of a tenant; the last one returns their ids. */
export const deleteClientsOf = (tenant: string): readonly DirectoryStatement[] => [
  directoryStatement(
    'delete from refresh_family where client_id in (select client_id from client where tenant_id = $1)',
    [tenant],
  ),
  directoryStatement(
    'delete from client_secret where client_id in (select client_id from client where tenant_id = $1)',
    [tenant],
  ),
  directoryStatement('delete from client where tenant_id = $1 returning client_id', [tenant]),
];

/**
 * Statements that each remove up to `$2` rows of a tenant and return one row for each. They run in
 * this order: the counts are removed first, because they would no longer match the records.
 */
export const eraseStatements: readonly TenantSql[] = (
  [
    ['subscription_span', 'series, level, from_date, from_id'],
    ['subscription', 'id'],
    ['subscription_tombstone', 'id'],
    ['subscription_version', 'id, until_revision'],
    ['subscription_commit', 'revision'],
    ['subscription_erasure', 'id, until_revision'],
    ['import_rejection', 'import_id'],
  ] as const
).map(
  ([table, primaryKey]): TenantSql => `delete from ${table} where tenant_id = $1 and (${primaryKey}) in (
    select ${primaryKey} from ${table} where tenant_id = $1 limit $2
  ) returning 1 as erased`,
);
