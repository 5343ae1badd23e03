import type { Store, TenantId } from '../store.ts';
import { type ClientRow, clientColumns, toClient } from './client.ts';

/** A part of a list of clients: up to `limit` after the one with this tenant and id. */
export interface ClientPage {
  /** Only clients whose id begins with this, or whose name contains it, in any case. */
  readonly search?: string | undefined;
  readonly afterTenant: string;
  readonly afterId: string;
  readonly limit: number;
}

const allClients: ClientPage = { afterTenant: '', afterId: '', limit: 2 ** 31 - 1 };

/** The clients of a tenant, or of all tenants, by tenant and id. */
export async function listClients(
  store: Store,
  tenant?: TenantId,
  { afterTenant, afterId, limit, search }: ClientPage = allClients,
): Promise<readonly ClientRow[]> {
  const rows = await store.readDirectory(
    `select ${clientColumns} from client as c where (tenant_id = $1 or $1 is null) and (tenant_id, client_id) > ($2, $3)
       and (lower(client_id) like lower($5) || '%' escape '!' or lower(name) like '%' || lower($5) || '%' escape '!' or $5 is null)
     order by tenant_id, client_id limit $4` as const,
    [tenant ?? null, afterTenant, afterId, limit, search?.replace(/[!%_]/g, '!$&') ?? null],
  );
  return rows.map(toClient);
}

/** Whether there is any client. */
export const hasClients = async (store: Store): Promise<boolean> =>
  (await store.readDirectory('select client_id from client limit 1')).length > 0;
