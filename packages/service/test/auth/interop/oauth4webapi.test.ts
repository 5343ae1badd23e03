import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import {
  type AuthorizationServer,
  allowInsecureRequests,
  type Client,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  clientCredentialsGrantRequest,
  discoveryRequest,
  type JWTAccessTokenClaims,
  processClientCredentialsResponse,
  processDiscoveryResponse,
  processRefreshTokenResponse,
  protectedResourceRequest,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
  validateJwtAccessToken,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../../test/support/engines.ts';
import {
  credentialKinds,
  type InteropService,
  startInteropService,
} from '../../../../../test/support/interop-service.ts';
import type { TestClient } from '../../../../../test/support/service.ts';

const [sqlite] = engines;
const insecure = { [allowInsecureRequests]: true };

const methods: readonly { method: string; authenticate: (secret: string) => ClientAuth }[] = [
  { method: 'client_secret_basic', authenticate: ClientSecretBasic },
  { method: 'client_secret_post', authenticate: ClientSecretPost },
];

describe('oauth4webapi', () => {
  let service: InteropService;
  let server: AuthorizationServer;
  beforeAll(async () => {
    service = await startInteropService(await sqlite.openTestStore());
    server = await discover('oauth2');
  });
  afterAll(() => service.close());

  const discover = async (algorithm: 'oidc' | 'oauth2'): Promise<AuthorizationServer> => {
    const issuer = new URL(service.url);
    return processDiscoveryResponse(issuer, await discoveryRequest(issuer, { algorithm, ...insecure }));
  };
  const issue = async (
    { client_id, client_secret }: TestClient,
    authenticate = ClientSecretBasic,
  ): Promise<TokenEndpointResponse> => {
    const client: Client = { client_id };
    const auth = authenticate(client_secret);
    const response = await clientCredentialsGrantRequest(server, client, auth, {}, insecure);
    return processClientCredentialsResponse(server, client, response);
  };
  const refresh = async (
    { client_id, client_secret }: TestClient,
    token: string,
    authenticate = ClientSecretBasic,
  ): Promise<TokenEndpointResponse> => {
    const client: Client = { client_id };
    const auth = authenticate(client_secret);
    const response = await refreshTokenGrantRequest(server, client, auth, token, insecure);
    return processRefreshTokenResponse(server, client, response);
  };
  const getReport = (token: string): Promise<Response> =>
    protectedResourceRequest(token, 'GET', new URL(service.reportUrl), undefined, undefined, insecure);

  test.each(['oidc', 'oauth2'] as const)('accepts the metadata found by the rules of %s', async (algorithm) => {
    expect(await discover(algorithm)).toMatchObject({
      issuer: service.url,
      grant_types_supported: ['client_credentials', 'refresh_token'],
      token_endpoint_auth_methods_supported: expect.arrayContaining(methods.map(({ method }) => method)),
    });
  });

  describe.each(methods)('with $method', ({ authenticate }) => {
    test.each(credentialKinds)(
      'gets a token by %s credentials, reads the report, refreshes, reads again',
      async (kind) => {
        const client = service.clients[kind];
        const first = await issue(client, authenticate);
        expect(first.expires_in).toBe(300);
        await service.expectReport(await getReport(first.access_token));

        const second = await refresh(client, first.refresh_token ?? '', authenticate);
        expect(second.refresh_token).toEqual(expect.any(String));
        expect(second.refresh_token).not.toBe(first.refresh_token);
        expect(second.access_token).not.toBe(first.access_token);
        await service.expectReport(await getReport(second.access_token));
      },
    );

    test('sees invalid_client when the secret is wrong', async () => {
      const error = await issue(service.wrong, authenticate).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(WWWAuthenticateChallengeError);
      expect((error as WWWAuthenticateChallengeError).cause).toMatchObject([
        { scheme: 'basic', parameters: { error: 'invalid_client' } },
      ]);
    });
  });

  test('sees invalid_grant for a malformed refresh token', async () => {
    await expect(refresh(service.clients.generated, 'no-token')).rejects.toMatchObject({
      name: 'ResponseBodyError',
      error: 'invalid_grant',
      status: 400,
    });
  });

  describe('as another API that trusts our access tokens (RFC 9068 §4)', () => {
    /** How that API judged the last request. */
    let verdict: JWTAccessTokenClaims | Error;
    let api: Server;
    let apiUrl: string;

    beforeAll(async () => {
      api = createServer(async ({ url = '/', headers }, response) => {
        const request = new Request(new URL(url, apiUrl), { headers: { authorization: headers.authorization ?? '' } });
        verdict = await validateJwtAccessToken(server, request, service.baseUrl, insecure).catch(
          (error: Error) => error,
        );
        response.writeHead(verdict instanceof Error ? 401 : 200).end();
      }).listen(0, '127.0.0.1');
      await once(api, 'listening');
      const address = api.address();
      if (address === null || typeof address === 'string') throw new TypeError('Cannot find the port of the API');
      apiUrl = `http://127.0.0.1:${address.port}`;
    });
    afterAll(async () => {
      api.close();
      await once(api, 'close');
    });

    const ask = async (token: string): Promise<number> =>
      (await fetch(apiUrl, { headers: { authorization: `Bearer ${token}`, connection: 'close' } })).status;

    test('accepts one of either grant, by our metadata and our key set', async () => {
      const client = service.clients.generated;
      const first = await issue(client);
      const second = await refresh(client, first.refresh_token ?? '');
      for (const { access_token } of [first, second]) {
        expect(await ask(access_token)).toBe(200);
        expect(verdict).toMatchObject({
          iss: service.url,
          aud: service.baseUrl,
          sub: client.client_id,
          client_id: client.client_id,
          scope: 'subscription:read',
          jti: expect.any(String),
        });
      }
    });

    test('rejects a modified access token and a refresh token', async () => {
      const { access_token, refresh_token = '' } = await issue(service.clients.generated);
      const [header = '', payload = '', signature = ''] = access_token.split('.');
      const claims = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), client_id: 'another' };
      const forged = [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
      expect(await ask(forged)).toBe(401);
      expect(verdict).toMatchObject({ message: 'JWT signature verification failed' });
      expect(await ask(refresh_token)).toBe(401);
    });
  });
});
