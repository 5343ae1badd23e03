import type { ClientRow } from '../../storage/tables/client.ts';
import { insertRefreshFamily, type RefreshFamily } from '../../storage/tables/refresh-family.ts';
import type { AuthContext } from '../auth-context.ts';
import { randomId } from '../random-id.ts';
import { chooseScopes, type Grant } from './grant.ts';
import { issueTime, issueToken } from './issue-token.ts';

/**
 * The client credentials grant (RFC 6749 §4.4, `spec.md` "Authentication" items 2 to 4). The
 * response includes a refresh token, as the specification of this service requires, if the client
 * may use it (`docs/decisions/tokens.md#refresh`).
 */
export const clientCredentialsGrant: Grant = {
  grantType: 'client_credentials',
  async handle(context, client, { scope }) {
    const scopes = chooseScopes(scope, client.scopes);
    const refreshable = client.grants.includes('refresh_token');
    const family = refreshable ? await startFamily(context, client, scopes) : undefined;
    return issueToken(context, client, scopes, family);
  },
};

async function startFamily(context: AuthContext, client: ClientRow, scopes: readonly string[]): Promise<RefreshFamily> {
  const { store, settings } = context;
  const { clientId } = client;
  const now = issueTime(context, client);
  const family = {
    id: randomId(),
    clientId,
    scope: scopes.join(' '),
    generation: 1,
    startedAt: now,
    rotatedAt: now,
    expiresAt: now + Math.min(settings.refreshTokenSeconds, settings.refreshFamilySeconds),
    capAt: now + settings.refreshFamilySeconds,
    revokedAt: null,
    accessEndsAt: now + settings.accessTokenSeconds,
  };
  const { refreshFamiliesMax: most } = settings;
  await insertRefreshFamily(store, family, Math.random() < newPerReduction / most ? most : undefined);
  return family;
}

/**
 * A reduction to the limit reads all families of the client. It follows one new family in
 * `familiesMax / newPerReduction` on average, so a client has a fourth more for a while; one in 50
 * reductions finds twice as many.
 */
const newPerReduction = 4;
