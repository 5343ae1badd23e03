import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../../test/support/draw.ts';
import { engines } from '../../../../../test/support/engines.ts';
import { expectProblem } from '../../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../../test/support/rows.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';
import { revokeTokens } from '../../../auth/clients/edit-client.ts';
import { createExternalClient } from '../../../auth/clients/manage-clients.ts';
import { directoryStatement, type TenantId } from '../../../storage/store.ts';
import { disableClient } from '../../../storage/tables/client-changes.ts';
import { type CertifiedIssuer, makeKey, sign, startCertifiedIssuer, startScriptedIssuer } from './issuers.ts';

const drawn = drawOne(engines, import.meta.url);

const report = '/v1/subscription';
const now = (): number => Math.floor(Date.now() / 1000);

// Titles carry the number of the rule in packages/service/test/auth/token-checklist.md and the
// section of the standard.
describe.each(drawn)('tokens of oidc-provider, a strict RFC 9068 issuer, on $engine', ({ openTestStore }) => {
  let issuer: CertifiedIssuer;
  let service: TestService;
  const external = (tenant: TenantId, clientId: string) =>
    createExternalClient(service.store, now(), { tenant, clientId });
  const get = (token: string) => service.get(report, token);
  const ids = async (response: Response) => ((await response.json()) as { id: string }[]).map(({ id }) => id);

  beforeAll(async () => {
    issuer = await startCertifiedIssuer([
      'acme-es',
      'acme-rs',
      'globex-es',
      'stranger',
      'leaver',
      'narrow',
      'ours',
      'ended',
    ]);
    service = await startService(await openTestStore(), { OIDC_ISSUER: issuer.url });
    for (const name of ['acme', 'globex']) {
      const tenant = await service.createTenant(name);
      await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: `of-${name}` })]);
      await external(tenant, `${name}-es`);
      if (name === 'acme') for (const clientId of ['acme-rs', 'leaver']) await external(tenant, clientId);
    }
  });
  afterAll(async () => {
    await service.close();
    await issuer.close();
  });

  test.each([
    ['acme-es', 'ES256', 'of-acme'],
    ['acme-rs', 'RS256', 'of-acme'],
    ['globex-es', 'ES256', 'of-globex'],
  ])('62 (RFC 9700 §4.15): a good token of %s, signed with %s, reads the records of its tenant', async (...row) => {
    const [clientId, , id] = row;
    const response = await get(await issuer.token(clientId, service.baseUrl));
    expect(response.status).toBe(200);
    expect(await ids(response)).toEqual([id]);
  });

  test('tokens of our own endpoint work in addition to external ones', async () => {
    const client = await service.createClient(await service.createTenant('globex'));
    expect(await ids(await get(await service.accessToken(client)))).toEqual(['of-globex']);
  });

  test('62: an external token of an unknown client gets 401', async () => {
    const problem = await expectProblem(await get(await issuer.token('stranger', service.baseUrl)), 'UNAUTHORISED');
    expect(problem.detail).toContain('its client must be active');
  });

  test('62: an external token of a disabled client gets 401', async () => {
    const token = await issuer.token('leaver', service.baseUrl);
    expect((await get(token)).status).toBe(200);
    await disableClient(service.store, 'leaver', now());
    await expect.poll(async () => (await get(token)).status).toBe(401);
  });

  test('52 (RFC 6750 §3.1): an external token without the scope gets 403 that names it', async () => {
    const response = await get(await issuer.token('acme-es', service.baseUrl, 'other:read'));
    expect(response.headers.get('www-authenticate')).toMatch(
      /^Bearer realm="subreport", error="insufficient_scope", .*scope="subscription:read"$/,
    );
    await expectProblem(response, 'ACCESS_DENIED');
  });

  test('52: an external token with a scope that the client may not have gets 403', async () => {
    const tenant = await service.createTenant('acme');
    await external(tenant, 'narrow');
    await service.store.writeDirectory([
      directoryStatement('update client set scopes = $2 where client_id = $1', ['narrow', '']),
    ]);
    const response = await get(await issuer.token('narrow', service.baseUrl));
    await expectProblem(response, 'ACCESS_DENIED');
  });

  test('56 (RFC 8725 §3.9): an external token for another audience gets 401 that says so', async () => {
    const response = await get(await issuer.token('acme-es', 'https://other.example/api'));
    expect(response.headers.get('www-authenticate')).toBe(
      `Bearer realm="subreport", error="invalid_token", error_description="Cannot accept the access token: its aud must contain '${service.baseUrl}'"`,
    );
    await expectProblem(response, 'UNAUTHORISED');
  });

  const good = () => ({
    iss: issuer.url,
    aud: service.baseUrl,
    sub: 'acme-es',
    client_id: 'acme-es',
    scope: 'subscription:read',
    iat: now(),
    exp: now() + 300,
    jti: 'j',
  });
  test.each<[string, Record<string, unknown>, () => Record<string, unknown>, number]>([
    ['nothing wrong', {}, () => ({}), 200],
    ['55 (RFC 9068 §4): typ application/AT+JWT', { typ: 'application/AT+JWT' }, () => ({}), 200],
    ['55 (RFC 9068 §4): typ JWT', { typ: 'JWT' }, () => ({}), 401],
    ['55 (RFC 9068 §4): no typ', { typ: undefined }, () => ({}), 401],
    ['55 (RFC 9068 §4): a typ that is no text', { typ: 7 }, () => ({}), 401],
    ['55 (RFC 8725 §3.11): typ of a logout token', { typ: 'logout+jwt' }, () => ({}), 401],
    ['56 (RFC 8725 §3.8): iss with a slash at its end', {}, () => ({ iss: `${issuer.url}/` }), 401],
    ['56 (RFC 8725 §3.8): iss in another case', {}, () => ({ iss: issuer.url.toUpperCase() }), 401],
    ['56 (RFC 8725 §3.8): no iss', {}, () => ({ iss: undefined }), 401],
    ['56 (RFC 8725 §3.8): our own iss under its key', {}, () => ({ iss: service.url }), 401],
    ['56 (RFC 8725 §3.8): a list of issuers', {}, () => ({ iss: [issuer.url] }), 401],
    ['56 (RFC 8725 §3.9): no aud', {}, () => ({ aud: undefined }), 401],
    ['56 (RFC 8725 §3.9): aud with a slash at its end', {}, () => ({ aud: `${service.baseUrl}/` }), 401],
    ['56 (RFC 8725 §3.9): aud is the client', {}, () => ({ aud: 'acme-es' }), 401],
    ['56 (RFC 8725 §3.9): us among the audiences', {}, () => ({ aud: ['x', service.baseUrl] }), 200],
    ['57 (RFC 7519 §4.1.4): no exp', {}, () => ({ exp: undefined }), 401],
    ['57 (RFC 7519 §4.1.4): ended more than a minute ago', {}, () => ({ exp: now() - 61 }), 401],
    ['57 (RFC 7519 §4.1.4): exp as a text', {}, () => ({ exp: String(now() + 300) }), 401],
    ['57 (RFC 7519 §4.1.5): not good before two minutes', {}, () => ({ nbf: now() + 120 }), 401],
    ['57 (RFC 9068 §2.2): no iat', {}, () => ({ iat: undefined }), 401],
    ['57 (RFC 9068 §2.2): issued a day ago, though it has not expired', {}, () => ({ iat: now() - 86_460 }), 401],
    ['57 (RFC 9068 §2.2): issued almost a day ago', {}, () => ({ iat: now() - 86_000 }), 200],
    ['58 (RFC 9068 §2.2): no sub', {}, () => ({ sub: undefined }), 401],
    ['58 (RFC 9068 §2.2): an empty sub', {}, () => ({ sub: '' }), 401],
    ['55 (RFC 8417 §2.2): events, as a logout token has them', {}, () => ({ events: {} }), 401],
    ['62: no client_id', {}, () => ({ client_id: undefined }), 401],
    ['62: the client in azp alone', {}, () => ({ client_id: undefined, azp: 'acme-es' }), 401],
    ['62: a client_id that is no text', {}, () => ({ client_id: ['acme-es'] }), 401],
    ['62: an empty client_id', {}, () => ({ client_id: '' }), 401],
    ['62: a client_id with NUL', {}, () => ({ client_id: 'acme-es\u0000' }), 401],
    ['52 (RFC 6750 §3.1): no scope', {}, () => ({ scope: undefined }), 403],
    ['52 (RFC 6750 §3.1): a scope that begins alike', {}, () => ({ scope: 'subscription:readwrite' }), 403],
    ['59 (RFC 7515 §4.1.11): an unknown crit', { crit: ['x-unknown'], 'x-unknown': 1 }, () => ({}), 401],
    ['59 (RFC 7515 §4.1.4): a kid that the issuer has not', { kid: 'other' }, () => ({}), 401],
    ['59 (RFC 7515 §4.1.4): the kid of a key of another kind', { kid: 'RS256-1' }, () => ({}), 401],
    ['59 (RFC 7517 §4.5): no kid, one key of the kind', { kid: undefined }, () => ({}), 200],
    ['54 (RFC 8725 §3.1): the algorithm with its name in lower case', { alg: 'es256' }, () => ({}), 401],
  ])('%s', async (_title, header, claims, status) => {
    const { alg, ...rest } = header;
    let token = await sign(issuer.keys.ES256, rest, { ...good(), ...claims() });
    if (alg !== undefined) token = withHeader(token, { typ: 'at+jwt', kid: 'ES256-1', alg });
    const response = await get(token);
    expect(response.status).toBe(status);
    if (status === 401) {
      expect(response.headers.get('www-authenticate')).toMatch(
        /^Bearer realm="subreport", error="invalid_token", error_description="[\x20-\x21\x23-\x5b\x5d-\x7e]+"$/,
      );
      await expectProblem(response, 'UNAUTHORISED');
    }
  });

  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const withHeader = (token: string, header: object) => [encode(header), ...token.split('.').slice(1)].join('.');

  test('54 (RFC 8725 §2.1, §3.1): alg none gets 401 in any letter case', async () => {
    for (const alg of ['none', 'None', 'NONE']) {
      const unsigned = `${encode({ alg, typ: 'at+jwt', kid: 'ES256-1' })}.${encode(good())}.`;
      expect((await get(unsigned)).status).toBe(401);
    }
  });

  test('54 (RFC 8725 §2.1): HS256 keyed with the public key gets 401, in each format of that key', async () => {
    const response = await fetch(`${issuer.url}/jwks`);
    const { keys } = (await response.json()) as { keys: { kty: string; n?: string }[] };
    const rsa = keys.find(({ kty }) => kty === 'RSA');
    for (const secret of [JSON.stringify(rsa), rsa?.n ?? '', Buffer.from(rsa?.n ?? '', 'base64url')]) {
      const token = await new SignJWT(good())
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: 'RS256-1' })
        .sign(Buffer.from(secret));
      expect((await get(token)).status).toBe(401);
    }
  });

  test('54 (RFC 8725 §3.1): a token of the same keys with an unlisted algorithm gets 401', async () => {
    const { privateJwk } = issuer.keys.RS256;
    const pair = { ...issuer.keys.RS256, alg: 'RS512', privateKey: await importAs(privateJwk, 'SHA-512') };
    expect((await get(await sign(pair, {}, good()))).status).toBe(401);
  });

  test("59 (RFC 8725 §3.10): a key in the token's own jwk, jku or x5u header is not used", async () => {
    const foreign = await makeKey('ES256');
    const trap = await startScriptedIssuer([foreign]);
    const jku = `${trap.url}/keys`;
    for (const header of [{ jwk: foreign.publicJwk }, { jku }, { x5u: jku }, { jku, kid: undefined }]) {
      expect((await get(await sign(foreign, header, good()))).status).toBe(401);
      expect((await get(await sign(issuer.keys.ES256, header, good()))).status).toBe(200);
    }
    expect(trap.requested).toEqual([]);
    await trap.close();
  });

  test('62 (RFC 9700 §4.15): a sub that names another client, or anything else, grants none of its access', async () => {
    for (const sub of ['globex-es', 'globex', 'nobody']) {
      const response = await get(await sign(issuer.keys.ES256, {}, { ...good(), sub }));
      expect(await ids(response)).toEqual(['of-acme']);
    }
    const stranger = await sign(issuer.keys.ES256, {}, { ...good(), client_id: 'stranger', sub: 'acme-es' });
    expect((await get(stranger)).status).toBe(401);
  });

  test('62: an external token that names a client of ours gets 401, and so does one of ours that names an external client', async () => {
    const tenant = await service.createTenant('acme');
    const own = await service.createClient(tenant, { clientId: 'ours' });
    expect((await get(await issuer.token('ours', service.baseUrl))).status).toBe(401);
    const token = await service.accessToken(own);
    expect((await get(token)).status).toBe(200);
    await service.store.writeDirectory(
      [directoryStatement('update client set grants = $2 where client_id = $1', ['ours', ''])],
      { announce: true },
    );
    expect((await get(await issuer.token('ours', service.baseUrl))).status).toBe(200);
    expect((await get(token)).status).toBe(401);
  });

  test('62: client revoke-tokens revokes external tokens too', async () => {
    await external(await service.createTenant('acme'), 'ended');
    const token = await issuer.token('ended', service.baseUrl);
    expect((await get(token)).status).toBe(200);
    await revokeTokens(service.store, now(), 'ended');
    expect((await get(token)).status).toBe(401);
  });

  test('51 (RFC 4648 §3.5): another spelling of the same base64url gets 401', async () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const own = await service.createClient(await service.createTenant('acme'));
    for (const token of [await issuer.token('acme-es', service.baseUrl), await service.accessToken(own)]) {
      expect((await get(token)).status).toBe(200);
      // 86 characters carry 516 bits for 512
      const other = alphabet[alphabet.indexOf(token.at(-1) ?? '') + 1];
      expect((await get(token.slice(0, -1) + other)).status).toBe(401);
    }
  });

  test('62: a client of the external issuer gets no token here', async () => {
    for (const client_secret of ['', 'a-secret-that-only-the-issuer-knows', 'undefined', 'null']) {
      const response = await service.postToken({
        grant_type: 'client_credentials',
        client_id: 'acme-es',
        client_secret,
      });
      expect(response.status).toBe(401);
    }
  });

  test('40 (RFC 6750 §5.2): no external token is in the log, accepted or rejected', () => {
    expect(service.logText()).not.toMatch(/eyJ[\w-]+\./);
  });
});

async function importAs(jwk: object, hash: string): Promise<CryptoKey> {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash };
  return crypto.subtle.importKey('jwk', { ...jwk, alg: 'RS512' } as JsonWebKey, algorithm, false, ['sign']);
}

describe.each(drawn)('settings of a strict issuer on $engine', ({ openTestStore }) => {
  let issuer: CertifiedIssuer;
  let service: TestService;
  const start = async (environment: Record<string, string>) => {
    service = await startService(await openTestStore(), { OIDC_ISSUER: issuer.url, ...environment });
    const tenant = await service.createTenant('acme');
    await createExternalClient(service.store, now(), { tenant, clientId: 'acme-es' });
  };
  beforeAll(async () => {
    issuer = await startCertifiedIssuer(['acme-es']);
  });
  afterAll(() => issuer.close());

  test("OIDC_AUDIENCE and OIDC_REQUIRED_SCOPE are the issuer's names of the API and its scope", async () => {
    const audience = 'https://api.example/subscriptions';
    await start({ OIDC_AUDIENCE: audience, OIDC_REQUIRED_SCOPE: 'read:subscriptions' });
    const status = async (aud: string, scope: string) =>
      (await service.get(report, await issuer.token('acme-es', aud, scope))).status;
    expect(await status(audience, 'read:subscriptions other:read')).toBe(200);
    expect(await status(audience, 'other:read')).toBe(403);
    expect(await status(service.baseUrl, 'read:subscriptions')).toBe(401);
    const refused = await service.get(report, await issuer.token('acme-es', audience, 'subscription:read'));
    expect(refused.headers.get('www-authenticate')).toContain('scope="read:subscriptions"');
    await service.close();
  });
});
