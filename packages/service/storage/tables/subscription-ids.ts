import type { RecordOwner, Row, Store, TenantId, TenantSql } from '../store.ts';
import { dataBytes } from './storage-use.ts';

/** Also of removed records, whose versions may still be in the history. */
const idsWith = (
  column: RecordOwner['column'],
): TenantSql => `select id from subscription where tenant_id = $1 and ${column} = $2
  union
  select v.id from subscription_version as v where v.tenant_id = $1 and v.${column} = $2
    and not exists (select 1 from subscription as s where s.tenant_id = $1 and s.id = v.id)`;

const statements = { email: idsWith('email'), iccid: idsWith('iccid') } as const;

/** The ids of all records of an owner. */
export async function findSubscriptionIds(
  store: Store,
  tenant: TenantId,
  { column, value }: RecordOwner,
): Promise<readonly string[]> {
  const rows = await store.readTenant(tenant, (reader) => reader.all(statements[column], [value]));
  return rows.map(({ id }) => String(id));
}

/** The owners that some records have, or had in a former version. */
export function readOwners(store: Store, tenant: TenantId, ids: readonly string[]): Promise<readonly Row[]> {
  const list = ids.map((_, index) => `$${index + 2}`).join(', ');
  const sql: TenantSql = `select iccid, email, device_id from subscription where tenant_id = $1 and id in (${list})
    union
    select iccid, email, device_id from subscription_version where tenant_id = $1 and id in (${list})`;
  return store.readTenantOnce(tenant, { sql, values: ids });
}

const eraseVersionsWith = (column: RecordOwner['column']): TenantSql =>
  `delete from subscription_version where tenant_id = $1 and ${column} = $2
    returning from_revision, until_revision, ${dataBytes()} as bytes`;

/** Erase the versions of an owner, also those of records that have another owner now. */
export const eraseVersionsOf = { email: eraseVersionsWith('email'), iccid: eraseVersionsWith('iccid') } as const;
