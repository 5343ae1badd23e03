import { formatInstant, timeOf } from '../../contract/instant.ts';
import type { Client, ClientDetails, ClientSession } from '../../contract/operator/client.ts';
import type { DescribedClient } from '../auth/clients/edit-client.ts';
import { type ClientRow, isExternalClient } from '../storage/tables/client.ts';
import { type ClientPage, listClients as readClients } from '../storage/tables/list-clients.ts';
import type { RefreshFamily } from '../storage/tables/refresh-family.ts';
import type { OperatorContext } from './perform.ts';
import { requireTenant } from './require-tenant.ts';

/** A page of the clients of a tenant, or of all tenants, by tenant and id. */
export const listClients = async (
  { store }: Pick<OperatorContext, 'store'>,
  tenant: string | undefined,
  page: ClientPage,
): Promise<readonly ClientRow[]> =>
  readClients(store, tenant === undefined ? undefined : await requireTenant(store, tenant), page);

/** A client as lists of the API and the commands show it. */
export const describeClient = (client: ClientRow): Client => ({
  client_id: client.clientId,
  name: client.name,
  tenant: client.tenant,
  external: isExternalClient(client),
  grants: [...client.grants],
  scopes: [...client.scopes],
  refresh_token_use: client.refreshTokenUse,
  rate_limit_per_minute: client.rateLimit,
  created_at: formatInstant(client.createdAt),
  disabled_at: timeOf(client.disabledAt),
  last_used_at: timeOf(client.lastUsedAt),
  tokens_revoked_at: timeOf(client.tokensRevokedAt),
});

export const describeDetails = ({ client, secrets }: DescribedClient): ClientDetails => ({
  ...describeClient(client),
  secrets: secrets.map(({ createdAt, expiresAt }) => ({
    created_at: formatInstant(createdAt),
    expires_at: timeOf(expiresAt),
  })),
});

export const describeSession = (family: RefreshFamily): ClientSession => ({
  session: family.id,
  scopes: family.scope.split(' '),
  started_at: formatInstant(family.startedAt),
  last_used_at: formatInstant(family.rotatedAt),
  refreshes: family.generation - 1,
  expires_at: formatInstant(family.expiresAt),
  ends_at: formatInstant(family.capAt),
});
