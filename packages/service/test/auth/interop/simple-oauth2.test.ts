import { ClientCredentials } from 'simple-oauth2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../../test/support/engines.ts';
import {
  credentialKinds,
  type InteropService,
  startInteropService,
} from '../../../../../test/support/interop-service.ts';
import type { TestClient } from '../../../../../test/support/service.ts';

const [sqlite] = engines;

describe('simple-oauth2', () => {
  let service: InteropService;
  beforeAll(async () => {
    service = await startInteropService(await sqlite.openTestStore());
  });
  afterAll(() => service.close());

  const open = ({ client_id, client_secret }: TestClient, authorizationMethod: 'header' | 'body'): ClientCredentials =>
    new ClientCredentials({
      client: { id: client_id, secret: client_secret },
      auth: { tokenHost: service.url, tokenPath: '/oauth2/token' },
      options: { authorizationMethod },
    });
  const getReport = (token: string): Promise<Response> =>
    fetch(service.reportUrl, { headers: { authorization: `Bearer ${token}` } });

  describe.each(['header', 'body'] as const)('with credentials in the %s', (authorizationMethod) => {
    test.each(credentialKinds)(
      'gets a token by %s credentials, reads the report, refreshes, reads again',
      async (kind) => {
        const first = await open(service.clients[kind], authorizationMethod).getToken({ scope: 'subscription:read' });
        expect(first.expired()).toBe(false);
        expect(first.expired(301)).toBe(true); // it counts from expires_in, which must be a number
        await service.expectReport(await getReport(first.token.access_token));

        const second = await first.refresh();
        expect(second.token.refresh_token).toEqual(expect.any(String));
        expect(second.token.refresh_token).not.toBe(first.token.refresh_token);
        expect(second.token.access_token).not.toBe(first.token.access_token);
        await service.expectReport(await getReport(second.token.access_token));
      },
    );

    test('sees invalid_client when the secret is wrong', async () => {
      await expect(open(service.wrong, authorizationMethod).getToken({})).rejects.toMatchObject({
        isBoom: true,
        output: { statusCode: 401 },
        data: { payload: { error: 'invalid_client' } },
      });
    });
  });
});
