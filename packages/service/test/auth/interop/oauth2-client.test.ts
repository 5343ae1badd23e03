import { OAuth2Client, OAuth2Fetch, OAuth2HttpError } from '@badgateway/oauth2-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../../test/support/engines.ts';
import {
  credentialKinds,
  type InteropService,
  startInteropService,
} from '../../../../../test/support/interop-service.ts';
import type { TestClient } from '../../../../../test/support/service.ts';

const [sqlite] = engines;

describe('@badgateway/oauth2-client', () => {
  let service: InteropService;
  beforeAll(async () => {
    service = await startInteropService(await sqlite.openTestStore());
  });
  afterAll(() => service.close());

  type Method = 'client_secret_basic' | 'client_secret_post' | 'client_secret_basic_interop';
  const open = ({ client_id, client_secret }: TestClient, authenticationMethod?: Method): OAuth2Client =>
    new OAuth2Client({
      server: service.url,
      clientId: client_id,
      clientSecret: client_secret,
      ...(authenticationMethod && { authenticationMethod }),
    });
  const getReport = (token: string): Promise<Response> =>
    fetch(service.reportUrl, { headers: { authorization: `Bearer ${token}` } });

  test('discovers the token endpoint and authentication by Basic', async () => {
    const client = open(service.clients.imported);
    expect(await client.getEndpoint('tokenEndpoint')).toBe(`${service.url}/oauth2/token`);
    expect(client.settings.authenticationMethod).toBe('client_secret_basic');
    expect((await client.clientCredentials()).refreshToken).toEqual(expect.any(String));
  });

  describe.each(['client_secret_basic', 'client_secret_post'] as const)('with %s', (method) => {
    test.each(credentialKinds)(
      'gets a token by %s credentials, reads the report, refreshes, reads again',
      async (kind) => {
        const client = open(service.clients[kind], method);
        const first = await client.clientCredentials({ scope: ['subscription:read'] });
        expect(first.expiresAt).toBeGreaterThan(Date.now() + 290_000);
        expect(first.scope).toEqual(['subscription:read']);
        await service.expectReport(await getReport(first.accessToken));

        const second = await client.refreshToken(first);
        expect(second.refreshToken).toEqual(expect.any(String));
        expect(second.refreshToken).not.toBe(first.refreshToken);
        expect(second.accessToken).not.toBe(first.accessToken);
        await service.expectReport(await getReport(second.accessToken));
      },
    );

    test('sees invalid_client when the secret is wrong', async () => {
      const error = await open(service.wrong, method)
        .clientCredentials()
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(OAuth2HttpError);
      expect(error).toMatchObject({ oauth2Code: 'invalid_client', httpCode: 401 });
    });
  });

  test('authenticates with Basic that encodes only colons, as its older versions do, with a generated secret', async () => {
    const client = open(service.clients.generated, 'client_secret_basic_interop');
    await service.expectReport(await getReport((await client.clientCredentials()).accessToken));
  });

  test('its fetch gets a new token when the report responds with 401, and retries', async () => {
    const client = open(service.clients.generated);
    const { refreshToken } = await client.clientCredentials();
    let renewed = '';
    const wrapped = new OAuth2Fetch({
      client,
      getNewToken: () => null,
      getStoredToken: () => ({ accessToken: 'ended', refreshToken, expiresAt: null }),
      storeToken: (token) => {
        renewed = token.accessToken;
      },
      scheduleRefresh: false,
    });
    await service.expectReport(await wrapped.fetch(service.reportUrl));
    expect(renewed).toMatch(/^eyJ/);
  });
});
