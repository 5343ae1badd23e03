import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  clientCredentialsGrant,
  discovery,
  fetchProtectedResource,
  refreshTokenGrant,
  tokenIntrospection,
  tokenRevocation,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../../test/support/draw.ts';
import { engines } from '../../../../../test/support/engines.ts';
import {
  credentialKinds,
  type InteropService,
  startInteropService,
} from '../../../../../test/support/interop-service.ts';
import type { TestClient } from '../../../../../test/support/service.ts';

const drawn = drawOne(engines, import.meta.url);

type Authenticate = (secret: string) => ClientAuth;
const methods: readonly { method: string; authenticate: Authenticate }[] = [
  { method: 'client_secret_basic', authenticate: ClientSecretBasic },
  { method: 'client_secret_post', authenticate: ClientSecretPost },
];

describe.each(drawn)('openid-client on $engine', ({ openTestStore }) => {
  let service: InteropService;
  beforeAll(async () => {
    service = await startInteropService(await openTestStore());
  });
  afterAll(() => service.close());

  const discover = (
    { client_id, client_secret }: TestClient,
    authenticate: Authenticate = ClientSecretBasic,
    algorithm: 'oidc' | 'oauth2' = 'oidc',
  ): Promise<Configuration> =>
    discovery(new URL(service.url), client_id, undefined, authenticate(client_secret), {
      algorithm,
      execute: [allowInsecureRequests],
    });
  const getReport = (config: Configuration, token: string): Promise<Response> =>
    fetchProtectedResource(config, token, new URL(service.reportUrl), 'GET');

  test.each(['oidc', 'oauth2'] as const)('discovers the endpoints by the rules of %s', async (algorithm) => {
    const config = await discover(service.clients.generated, ClientSecretBasic, algorithm);
    expect(config.serverMetadata()).toMatchObject({
      issuer: service.url,
      token_endpoint: `${service.url}/oauth2/token`,
      jwks_uri: `${service.url}/oauth2/jwks`,
    });
  });

  describe.each(methods)('with $method', ({ authenticate }) => {
    test.each(credentialKinds)(
      'gets a token by %s credentials, reads the report, refreshes, reads again',
      async (kind) => {
        const config = await discover(service.clients[kind], authenticate);
        const first = await clientCredentialsGrant(config);
        expect(first.token_type).toBe('bearer'); // the library folds the case
        expect(first.expiresIn()).toBeGreaterThan(290);
        expect(first.scope).toBe('subscription:read');
        await service.expectReport(await getReport(config, first.access_token));

        const second = await refreshTokenGrant(config, first.refresh_token ?? '');
        expect(second.refresh_token).toEqual(expect.any(String));
        expect(second.refresh_token).not.toBe(first.refresh_token);
        expect(second.access_token).not.toBe(first.access_token);
        await service.expectReport(await getReport(config, second.access_token));
      },
    );

    test('introspects its tokens (RFC 7662) and revokes them (RFC 7009), and the report rejects them at once', async () => {
      const config = await discover(service.clients.generated, authenticate);
      const tokens = await clientCredentialsGrant(config);
      const refreshToken = tokens.refresh_token ?? '';
      expect(await tokenIntrospection(config, tokens.access_token)).toMatchObject({
        active: true,
        scope: 'subscription:read',
        client_id: service.clients.generated.client_id,
      });
      expect(await tokenIntrospection(config, refreshToken)).toMatchObject({ active: true });
      await tokenRevocation(config, refreshToken);
      expect(await tokenIntrospection(config, tokens.access_token)).toEqual({ active: false });
      expect(await tokenIntrospection(config, refreshToken)).toEqual({ active: false });
      await expect(getReport(config, tokens.access_token)).rejects.toBeInstanceOf(WWWAuthenticateChallengeError);
      await expect(refreshTokenGrant(config, refreshToken)).rejects.toMatchObject({ error: 'invalid_grant' });
    });

    test('sees invalid_client when the secret is wrong', async () => {
      const config = await discover(service.wrong, authenticate);
      const error = await clientCredentialsGrant(config).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(WWWAuthenticateChallengeError);
      expect((error as WWWAuthenticateChallengeError).cause).toMatchObject([
        { scheme: 'basic', parameters: { realm: 'subreport', error: 'invalid_client' } },
      ]);
    });
  });

  test('sees invalid_grant for a malformed refresh token', async () => {
    const config = await discover(service.clients.generated);
    await expect(refreshTokenGrant(config, 'no-token')).rejects.toMatchObject({
      name: 'ResponseBodyError',
      error: 'invalid_grant',
      status: 400,
    });
  });

  test('sees invalid_token when the report rejects its token', async () => {
    const config = await discover(service.clients.generated);
    const error = await getReport(config, 'no-token').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(WWWAuthenticateChallengeError);
    expect((error as WWWAuthenticateChallengeError).cause).toMatchObject([
      { scheme: 'bearer', parameters: { error: 'invalid_token' } },
    ]);
  });
});
