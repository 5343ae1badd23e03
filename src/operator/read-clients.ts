import {
  type ClientSession,
  type DescribedClient,
  describeClient,
  listClientSessions as listSessions,
} from '../auth/edit-client.ts';
import { type ClientPage, type ClientRow, listClients as readClients } from '../storage/tables/client.ts';
import type { OperatorContext } from './perform.ts';
import { requireTenant } from './tenant.ts';

type ReadContext = Pick<OperatorContext, 'store' | 'now'>;

/** A page of the clients of a tenant, or of all tenants, by tenant and id. */
export const listClients = async (
  { store }: Pick<OperatorContext, 'store'>,
  tenant: string | undefined,
  page: ClientPage,
): Promise<readonly ClientRow[]> =>
  readClients(store, tenant === undefined ? undefined : await requireTenant(store, tenant), page);

/** One client with the lifetimes of its secrets. Throws `ClientError` if there is none. */
export const showClient = ({ store, now }: ReadContext, clientId: string): Promise<DescribedClient> =>
  describeClient(store, now(), clientId);

/** The sessions of a client that can be refreshed. Throws `ClientError` if there is no client. */
export const listClientSessions = ({ store, now }: ReadContext, clientId: string): Promise<readonly ClientSession[]> =>
  listSessions(store, now(), clientId);
