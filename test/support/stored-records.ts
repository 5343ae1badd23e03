import type { Store, TenantId } from '../../packages/service/storage/store.ts';

/** The records of a tenant, by id. */
export const storedRecords = (store: Store, tenant: TenantId): Promise<unknown[]> =>
  store.readTenant(tenant, async (reader) =>
    (await reader.all('select record from subscription where tenant_id = $1 order by id')).map(({ record }) =>
      JSON.parse(String(record)),
    ),
  );
