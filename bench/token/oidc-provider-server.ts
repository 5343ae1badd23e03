import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';
import pg from 'pg';
import type { ClientCredentialsOnce } from '../../packages/service/auth/clients/manage-clients.ts';
import { settings } from '../../packages/service/cli/config.ts';
import { createAdapterTable, createPostgresAdapter } from './postgres-adapter.ts';

// oidc-provider, configured like our token endpoint: both grants, rotation, JWT access tokens
// signed with ES256, and all persistent state in PostgreSQL through the same driver. It issues no
// refresh tokens for client credentials, so that grant is a custom handler on its classes, which
// stores the grant and the refresh token concurrently.

const port = Number(process.env.PORT);
const issuer = `http://127.0.0.1:${port}`;
const audience = `${issuer}/connect-api`;
const scope = 'subscription:read';
const resourceServer = {
  scope,
  audience,
  accessTokenTTL: 300,
  accessTokenFormat: 'jwt',
  jwt: { sign: { alg: 'ES256' } },
};

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL ?? '',
  max: Number(settings.DATABASE_POOL_SIZE.fallback),
});
await createAdapterTable(pool);
const adapter = createPostgresAdapter(pool);

const { privateKey } = await generateKeyPair('ES256', { extractable: true });
const provider = new Provider(issuer, {
  adapter,
  jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' }] },
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => audience,
      getResourceServerInfo: () => resourceServer,
      useGrantedResource: () => true,
    },
  },
  scopes: [scope],
  findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  ttl: { AccessToken: 300, RefreshToken: 1_800, Grant: 36_000 },
});
provider.on('server_error', (_context, error) => console.error(error));

provider.registerGrantType(
  'client_credentials',
  async (context) => {
    const { client } = context.oidc;
    const grantId = randomBytes(16).toString('base64url');
    const owner = { accountId: client.clientId, client, gty: 'client_credentials' };
    const grant = new provider.Grant({ jti: grantId, accountId: client.clientId, clientId: client.clientId });
    grant.addResourceScope(audience, scope);
    const refreshToken = new provider.RefreshToken({ ...owner, grantId, scope, resource: audience, rotations: 0 });
    const accessToken = new provider.AccessToken({ ...owner, grantId });
    accessToken.resourceServer = new provider.ResourceServer(audience, resourceServer);
    accessToken.scope = scope;
    const [access_token, refresh_token] = await Promise.all([accessToken.save(), refreshToken.save(), grant.save()]);
    context.body = { access_token, token_type: 'Bearer', expires_in: accessToken.expiration, refresh_token, scope };
  },
  ['scope'],
);

const clients = JSON.parse(process.env.CLIENTS ?? '[]') as readonly ClientCredentialsOnce[];
for (const client of clients) {
  const metadata = {
    ...client,
    grant_types: ['client_credentials', 'refresh_token'],
    redirect_uris: [],
    response_types: [],
    token_endpoint_auth_method: 'client_secret_post',
    scope,
  };
  await adapter('Client').upsert(client.client_id, metadata, undefined);
}

createServer(provider.callback()).listen(port, '127.0.0.1');
