import type { Store, TenantId, TenantSql } from '../store.ts';

/** Also of removed records, whose versions may still be in the history. */
const idsWith = (
  column: 'email' | 'iccid',
): TenantSql => `select id from subscription where tenant_id = $1 and ${column} = $2
  union
  select v.id from subscription_version as v where v.tenant_id = $1 and v.${column} = $2
    and not exists (select 1 from subscription as s where s.tenant_id = v.tenant_id and s.id = v.id)`;

const statements = { email: idsWith('email'), iccid: idsWith('iccid') } as const;

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
