import type { RecordOwner, Row, Store, TenantId, TenantSql } from '../store.ts';

/** Also of records that are removed, or have another owner now. */
const idsWith = (column: RecordOwner['column']): TenantSql => `select id from subscription
  where tenant_id = $1 and ${column} = $2
  union
  select id from subscription_version where tenant_id = $1 and ${column} = $2`;

const statements = { email: idsWith('email'), iccid: idsWith('iccid') } as const;

/** The ids of all records that an owner has or had. */
export async function findSubscriptionIds(
  store: Store,
  tenant: TenantId,
  { column, value }: RecordOwner,
): Promise<readonly string[]> {
  const rows = await store.readTenant(tenant, (reader) => reader.all(statements[column], [value]));
  return rows.map(({ id }) => String(id));
}

/** The owners that some records have, or had in a former version; if one is given, only its. */
export function readOwners(
  store: Store,
  tenant: TenantId,
  ids: readonly string[],
  owner?: RecordOwner,
): Promise<readonly Row[]> {
  const list = ids.map((_, index) => `$${index + 2}`).join(', ');
  const of = owner === undefined ? '' : ` and coalesce(${owner.column}, $${ids.length + 2}) = $${ids.length + 2}`;
  const from = (table: string) =>
    `select iccid, email, device_id from ${table} where tenant_id = $1 and id in (${list})${of}`;
  const sql = `${from('subscription')} union ${from('subscription_version')}` as TenantSql;
  return store.readTenantOnce(tenant, { sql, values: owner === undefined ? ids : [...ids, owner.value] });
}
