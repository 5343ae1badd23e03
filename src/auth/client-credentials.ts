import { insertRefreshFamily, type RefreshFamily } from '../storage/refresh-family.ts';
import type { AuthContext } from './auth-context.ts';
import type { Grant } from './grant.ts';
import { issueToken } from './issue-token.ts';
import { randomId } from './random-id.ts';
import { chooseScopes } from './scope.ts';

/**
 * The client credentials grant (RFC 6749 §4.4, `spec.md` "Authentication" items 2 to 4). The answer carries a refresh token, as the specification of
 * this service asks, for clients that may use it (`docs/decisions/refresh.md`).
 */
export const clientCredentialsGrant: Grant = {
  grantType: 'client_credentials',
  async handle(context, client, { scope }) {
    const scopes = chooseScopes(scope, client.scopes);
    const refreshable = client.grants.includes('refresh_token');
    const family = refreshable ? await startFamily(context, client.clientId, scopes) : undefined;
    return issueToken(context, client.clientId, scopes, family);
  },
};

async function startFamily(context: AuthContext, clientId: string, scopes: readonly string[]): Promise<RefreshFamily> {
  const { store, settings } = context;
  const now = context.now();
  const family: RefreshFamily = {
    id: randomId(),
    clientId,
    scope: scopes.join(' '),
    generation: 1,
    rotatedAt: now,
    expiresAt: now + Math.min(settings.refreshTokenSeconds, settings.refreshFamilySeconds),
    capAt: now + settings.refreshFamilySeconds,
    revokedAt: null,
  };
  await insertRefreshFamily(store, family, context.families.dueNow(clientId));
  return family;
}
