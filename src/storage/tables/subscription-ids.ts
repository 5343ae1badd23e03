import type { Store, TenantId } from '../store.ts';

const statements = {
  email: 'select id from subscription where tenant_id = $1 and email = $2',
  iccid: 'select id from subscription where tenant_id = $1 and iccid = $2',
} as const;

/** The ids of all records of a subscriber, whose email is normalized, or of a SIM. */
export async function findSubscriptionIds(
  store: Store,
  tenant: TenantId,
  column: keyof typeof statements,
  value: string,
): Promise<readonly string[]> {
  const rows = await store.readTenant(tenant, (reader) => reader.all(statements[column], [value]));
  return rows.map(({ id }) => String(id));
}
