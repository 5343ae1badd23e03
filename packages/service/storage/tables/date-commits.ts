import { directoryStatement, type Store, type TenantId } from '../store.ts';

/**
 * Dates the commits of a tenant that are later than a time back to it. Only for records that
 * nobody has read yet: the demo loads its past before it listens.
 */
export async function dateCommits(store: Store, tenant: TenantId, at: number): Promise<void> {
  const sql = 'update subscription_commit set committed_at = $2 where tenant_id = $1 and committed_at > $2';
  await store.writeTenant(tenant, [{ sql, values: [at] }]);
  await store.writeDirectory([
    directoryStatement('update tenant set history_at = $2 where id = $1 and history_at > $2', [tenant, at]),
  ]);
}
