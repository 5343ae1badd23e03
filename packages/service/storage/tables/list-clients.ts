import type { Store, TenantId } from '../store.ts';
import { type ClientRow, clientColumns, toClient } from './client.ts';

/** A part of a list of clients: up to `limit` after the one with this tenant and id. */
export interface ClientPage {
  /**
   * Only clients whose id begins with this, or whose name contains it; both engines know the case
   * of the letters A to Z alone.
   */
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
  const escaped = search?.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replace(/[!%_]/g, '!$&');
  const pattern = escaped ?? null;
  const rows = await store.readDirectory(selectClients, [tenant ?? null, afterTenant, afterId, limit, pattern]);
  return rows.map(toClient);
}

const selectClients =
  `select ${clientColumns} from client as c where (tenant_id = $1 or $1 is null) and (tenant_id, client_id) > ($2, $3)
    and (lower(client_id) like $5 || '%' escape '!' or lower(name) like '%' || $5 || '%' escape '!' or $5 is null)
  order by tenant_id, client_id limit $4` as const;
