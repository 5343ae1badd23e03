import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../../test/support/engines.ts';
import {
  credentialKinds,
  type InteropService,
  startInteropService,
} from '../../../../../test/support/interop-service.ts';
import { runCommand } from '../../../../../test/support/run-command.ts';
import type { TestClient } from '../../../../../test/support/service.ts';
import type { TokenErrorBody, TokenResponse } from '../../../../contract/oauth/token.ts';

const [sqlite] = engines;

/** Runs curl and returns status and JSON body of the response. */
async function curl<T>(...args: string[]): Promise<{ status: number; body: T }> {
  const { code, stdout, stderr } = await runCommand(['-sS', '-w', '\n%{http_code}', ...args], { program: ['curl'] });
  expect([code, stderr]).toEqual([0, '']);
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end)), body: JSON.parse(stdout.slice(0, end)) };
}

/**
 * curl joins the halves of `-u` unencoded: credentials with other characters than ours must be
 * encoded first (RFC 6749 §2.3.1).
 */
const encode = (text: string): string => encodeURIComponent(text).replaceAll('%20', '+');
const inBasic = ({ client_id, client_secret }: TestClient): string[] => [
  '-u',
  `${encode(client_id)}:${encode(client_secret)}`,
];
const inBody = ({ client_id, client_secret }: TestClient): string[] => [
  '--data-urlencode',
  `client_id=${client_id}`,
  '--data-urlencode',
  `client_secret=${client_secret}`,
];
const methods = [
  { method: '-u', credentials: inBasic },
  { method: '--data-urlencode', credentials: inBody },
];

describe('curl', () => {
  let service: InteropService;
  let tokenUrl: string;
  beforeAll(async () => {
    service = await startInteropService(await sqlite.openTestStore());
    tokenUrl = `${service.url}/oauth2/token`;
  });
  afterAll(() => service.close());

  const expectReport = async (token: string): Promise<void> => {
    const { status, body } = await curl('--oauth2-bearer', token, service.reportUrl);
    await service.expectReport(Response.json(body, { status }));
  };

  describe.each(methods)('with credentials by $method', ({ credentials }) => {
    test.each(credentialKinds)(
      'gets a token by %s credentials, reads the report, refreshes, reads again',
      async (kind) => {
        const given = credentials(service.clients[kind]);
        const first = await curl<TokenResponse>(...given, '-d', 'grant_type=client_credentials', tokenUrl);
        expect(first.status).toBe(200);
        await expectReport(first.body.access_token);

        const token = `refresh_token=${first.body.refresh_token}`;
        const second = await curl<TokenResponse>(...given, '-d', 'grant_type=refresh_token', '-d', token, tokenUrl);
        expect(second.status).toBe(200);
        expect(second.body.refresh_token).toEqual(expect.any(String));
        expect(second.body.refresh_token).not.toBe(first.body.refresh_token);
        expect(second.body.access_token).not.toBe(first.body.access_token);
        await expectReport(second.body.access_token);
      },
    );

    test('sees invalid_client when the secret is wrong', async () => {
      const given = credentials(service.wrong);
      const { status, body } = await curl<TokenErrorBody>(...given, '-d', 'grant_type=client_credentials', tokenUrl);
      expect([status, body.error]).toEqual([401, 'invalid_client']);
    });
  });

  test('gets a token with -u and credentials that we generated, just as they were printed', async () => {
    const { client_id, client_secret } = service.clients.generated;
    const given = ['-u', `${client_id}:${client_secret}`, '-d', 'grant_type=client_credentials'];
    await expectReport((await curl<TokenResponse>(...given, tokenUrl)).body.access_token);
  });
});
