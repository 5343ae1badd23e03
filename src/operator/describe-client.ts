import type { DescribedClient } from '../auth/edit-client.ts';
import { formatInstant } from '../contract/instant.ts';
import type { Client, ClientDetails, ClientSession } from '../contract/operator/client.ts';
import { type ClientRow, isExternalClient } from '../storage/tables/client.ts';
import type { listClientSessions } from './read-clients.ts';
import { timeOf } from './time-of.ts';

/** A client as lists of the API and the commands show it. */
export const describeClient = (client: ClientRow): Client => ({
  client_id: client.clientId,
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

/** A client with the lifetimes of its secrets. */
export const describeDetails = ({ client, secrets }: DescribedClient): ClientDetails => ({
  ...describeClient(client),
  secrets: secrets.map(({ createdAt, expiresAt }) => ({
    created_at: formatInstant(createdAt),
    expires_at: timeOf(expiresAt),
  })),
});

type Session = Awaited<ReturnType<typeof listClientSessions>>[number];

/** A session of a client. */
export const describeSession = (session: Session): ClientSession => ({
  session: session.id,
  scopes: [...session.scopes],
  started_at: timeOf(session.startedAt),
  last_used_at: formatInstant(session.lastUsedAt),
  refreshes: session.refreshes,
  expires_at: formatInstant(session.expiresAt),
  ends_at: formatInstant(session.endsAt),
});
