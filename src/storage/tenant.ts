import { directoryStatement, type Store, type TenantId, type TenantReader } from './store.ts';

/** A tenant: a customer of the operator. */
export interface Tenant {
  readonly tenant: TenantId;
  /** When it was made, in UTC epoch seconds. */
  readonly createdAt: number;
  /** Grows with each committed change of the tenant's subscriptions. */
  readonly revision: number;
}

/** Makes a tenant; `false` when there was one of this name already. */
export async function insertTenant(store: Store, tenant: string, nowSeconds: number): Promise<boolean> {
  const statement = directoryStatement(
    'insert into tenant (id, created_at) values ($1, $2) on conflict (id) do nothing returning id',
    [tenant, nowSeconds],
  );
  const [rows] = await store.writeDirectory([statement]);
  return rows?.length === 1;
}

/** The tenant of a name, or `undefined`. */
export async function findTenant(store: Store, tenant: string): Promise<Tenant | undefined> {
  const [row] = await store.readDirectory('select id, created_at, revision from tenant where id = $1', [tenant]);
  return row === undefined ? undefined : toTenant(row);
}

/** The tenant's revision at the moment that a reader sees. */
export async function readRevision(reader: TenantReader): Promise<number> {
  const [row] = await reader.all(
    'select revision from (select id as tenant_id, revision from tenant) as t where tenant_id = $1',
  );
  return Number(row?.revision ?? 0);
}

/** All tenants by name. */
export async function listTenants(store: Store): Promise<readonly Tenant[]> {
  const rows = await store.readDirectory('select id, created_at, revision from tenant order by id');
  return rows.map(toTenant);
}

function toTenant(row: Readonly<Record<string, unknown>>): Tenant {
  return { tenant: row.id as TenantId, createdAt: Number(row.created_at), revision: Number(row.revision) };
}
