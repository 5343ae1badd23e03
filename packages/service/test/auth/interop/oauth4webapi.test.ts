import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import {
  type AuthorizationServer,
  allowInsecureRequests,
  type Client,
  ClientSecretBasic,
  clientCredentialsGrantRequest,
  discoveryRequest,
  type JWTAccessTokenClaims,
  processClientCredentialsResponse,
  processDiscoveryResponse,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
  validateJwtAccessToken,
} from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../../test/support/engines.ts';
import { type InteropService, startInteropService } from '../../../../../test/support/interop-service.ts';
import type { TestClient } from '../../../../../test/support/service.ts';

const [sqlite] = engines;
const insecure = { [allowInsecureRequests]: true };

// what it is as a client, the tests of openid-client say, which sends its requests
describe('oauth4webapi', () => {
  let service: InteropService;
  let server: AuthorizationServer;
  beforeAll(async () => {
    service = await startInteropService(await sqlite.openTestStore());
    const issuer = new URL(service.url);
    const discovered = await discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    server = await processDiscoveryResponse(issuer, discovered);
  });
  afterAll(() => service.close());

  const issue = async ({ client_id, client_secret }: TestClient): Promise<TokenEndpointResponse> => {
    const client: Client = { client_id };
    const auth = ClientSecretBasic(client_secret);
    const response = await clientCredentialsGrantRequest(server, client, auth, {}, insecure);
    return processClientCredentialsResponse(server, client, response);
  };
  const refresh = async ({ client_id, client_secret }: TestClient, token: string): Promise<TokenEndpointResponse> => {
    const client: Client = { client_id };
    const auth = ClientSecretBasic(client_secret);
    const response = await refreshTokenGrantRequest(server, client, auth, token, insecure);
    return processRefreshTokenResponse(server, client, response);
  };
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
