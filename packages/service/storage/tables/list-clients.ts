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
  const found: ClientRow[] = [];
  const { pattern, idPattern, isFound, readMax } = readSearch(search, limit);
  for (let after: readonly string[] = [afterTenant, afterId]; ; ) {
    const values = [tenant ?? null, ...after, readMax, pattern, idPattern];
    const rows = (await store.readDirectory(selectClients, values)).map(toClient);
    found.push(...rows.filter(isFound));
    const last = rows.at(-1);
    if (last === undefined || rows.length < readMax || found.length >= limit) return found.slice(0, limit);
    after = [last.tenant, last.clientId];
  }
}

const selectClients =
  `select ${clientColumns} from client as c where (tenant_id = $1 or $1 is null) and (tenant_id, client_id) > ($2, $3)
    and (lower(client_id) like $6 || '%' escape '!' or lower(name) like '%' || $5 || '%' escape '!' or $5 is null)
  order by tenant_id, client_id limit $4` as const;

/** Clients that one statement reads if it may return others than those that are searched for. */
const candidatesAtOnce = 500;

/** How a search is read: patterns of SQL, and which of the clients that match them are found. */
interface Search {
  readonly pattern: string | null;
  readonly idPattern: string | null;
  readonly isFound: (client: ClientRow) => boolean;
  readonly readMax: number;
}

/**
 * Both engines know the case of the letters A to Z alone. In their patterns, any character stands
 * for another letter, which ids do not have; of the names that match, the process decides.
 */
function readSearch(search: string | undefined, limit: number): Search {
  if (search === undefined) return { pattern: null, idPattern: null, isFound: () => true, readMax: limit };
  const escaped = search.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replace(/[!%_]/g, '!$&');
  const pattern = escaped.replace(/[^\0-\x7f]/gu, '_');
  if (pattern === escaped) return { pattern, idPattern: pattern, isFound: () => true, readMax: limit };
  const wanted = search.toLowerCase();
  const isFound = ({ name }: ClientRow): boolean => name?.toLowerCase().includes(wanted) ?? false;
  return { pattern, idPattern: null, isFound, readMax: Math.max(limit, candidatesAtOnce) };
}

/** Whether there is any client. */
export const hasClients = async (store: Store): Promise<boolean> =>
  (await store.readDirectory('select client_id from client limit 1')).length > 0;
