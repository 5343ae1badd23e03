import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../../test/support/draw.ts';
import { engines } from '../../../../../test/support/engines.ts';
import { expectProblem } from '../../../../../test/support/expect-error.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';
import { createExternalClient } from '../../../auth/clients/manage-clients.ts';
import { type IssuerKey, makeKey, type ScriptedIssuer, sign, startScriptedIssuer } from './issuers.ts';

const drawn = drawOne(engines, import.meta.url);

const report = '/v1/subscription';
const now = (): number => Math.floor(Date.now() / 1000);

// Titles carry the number of the rule in packages/service/test/auth/token-checklist.md and the
// section of the standard.
describe.each(drawn)('a service whose external issuer cannot be asked, on $engine', ({ openTestStore }) => {
  let key: IssuerKey;
  let issuer: ScriptedIssuer;
  let service: TestService;
  const start = async (): Promise<void> => {
    service = await startService(await openTestStore(), { OIDC_ISSUER: issuer.url });
    const tenant = await service.createTenant('acme');
    await createExternalClient(service.store, now(), { tenant, clientId: 'acme' });
  };
  const get = async (): Promise<Response> => {
    const claims = {
      iss: issuer.url,
      aud: service.baseUrl,
      sub: 'acme',
      client_id: 'acme',
      scope: 'subscription:read',
    };
    return service.get(report, await sign(key, {}, { ...claims, iat: now(), exp: now() + 300 }));
  };
  const warnings = () => service.log.filter(({ level }) => level === 'warn' || level === 40);
  const expectUnavailable = async (response: Response): Promise<void> => {
    expect(response.headers.get('retry-after')).toBe('5');
    expect(response.headers.get('www-authenticate')).toBeNull();
    const { detail } = await expectProblem(response, 'UNAVAILABLE');
    expect(detail).toBe(
      'Cannot check the access token now: the keys of the identity provider must be readable; try again shortly',
    );
  };
  const expectOwnTokensGood = async (): Promise<void> => {
    const client = await service.createClient(await service.createTenant('acme'));
    expect((await service.get(report, await service.accessToken(client))).status).toBe(200);
  };

  beforeAll(async () => {
    key = await makeKey('ES256');
  });
  beforeEach(async () => {
    issuer = await startScriptedIssuer([key]);
  });
  afterEach(async () => {
    await service.close();
    await issuer.close().catch(() => undefined); // some tests closed it
  });

  test('61: an issuer that is down at start-up means a warning, 503 with Retry-After for its tokens, and 200 for ours', async () => {
    await issuer.close();
    await start();
    await expect.poll(() => warnings().length).toBe(1);
    expect(warnings()[0]).toMatchObject({
      issuer: issuer.url,
      msg: 'the keys of the external issuer cannot be read; the cached keys stay in use',
      err: { message: expect.stringContaining(`Cannot read ${issuer.url}/.well-known/openid-configuration`) },
    });
    await expectUnavailable(await get());
    await expectOwnTokensGood();
  });

  test('61: an issuer that hangs at start-up does not delay the start, and its tokens get 503 within the time limit', async () => {
    issuer.script = () => undefined;
    await start();
    await expectUnavailable(await get());
    await expectOwnTokensGood();
    await expect.poll(() => warnings().length).toBe(1);
    // the service listened before the fetch of the keys reached its time limit
    const messages = service.log.map(({ msg }) => String(msg));
    expect(messages.filter((msg) => /^listening|keys of the external issuer/.test(msg))).toEqual([
      expect.stringMatching(/^listening/),
      expect.stringMatching(/^the keys of the external issuer cannot be read/),
    ]);
  });

  test('56 (RFC 8725 §3.8): tokens of unknown issuers get 401 while the known issuer is down', async () => {
    issuer.script = () => undefined;
    await start();
    const claims = { aud: service.baseUrl, sub: 'acme', client_id: 'acme', iat: now(), exp: now() + 300 };
    for (const iss of [`${issuer.url}/`, 'https://other.example', undefined]) {
      await expectProblem(await service.get(report, await sign(key, {}, { ...claims, iss })), 'UNAUTHORISED');
    }
  });
});
