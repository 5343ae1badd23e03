import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { expectProblem, expectTokenError } from '../../../../test/support/expect-error.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import type { TokenResponse } from '../../../contract/oauth/token.ts';
import { revokeTokens as revokeAllTokens } from '../../auth/clients/edit-client.ts';
import { rotateClientSecret } from '../../auth/clients/manage-clients.ts';
import type { TenantId } from '../../storage/store.ts';
import { findClient } from '../../storage/tables/client.ts';
import { disableClient } from '../../storage/tables/client-changes.ts';

const drawn = drawOne(engines, import.meta.url);

const now = (): number => Math.floor(Date.now() / 1000);
const basic = ({ client_id: id, client_secret: secret }: TestClient) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});

describe.each(drawn)('revocation and introspection on $engine', ({ openTestStore }) => {
  let service: TestService;
  let tenant: TenantId;
  let client: TestClient;
  let other: TestClient;
  const send = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${service.url}${path}`, { method: 'POST', body: new URLSearchParams(form), headers });
  const revoke = (token: string, given = client, more: Record<string, string> = {}) =>
    send('/oauth2/revoke', { token, ...given, ...more });
  const introspect = (token: string, given = client) => send('/oauth2/introspect', { token, ...given });
  const issue = async (given = client): Promise<TokenResponse & { readonly refresh_token: string }> => {
    const response = await service.postToken({ grant_type: 'client_credentials', ...given });
    return (await response.json()) as TokenResponse & { readonly refresh_token: string };
  };
  const refresh = (token: string, given = client) =>
    service.postToken({ grant_type: 'refresh_token', refresh_token: token, ...given });
  const reads = async ({ access_token: token }: TokenResponse) =>
    (await service.get('/v1/subscription?size=1', token)).status;

  beforeAll(async () => {
    service = await startService(await openTestStore());
    tenant = await service.createTenant('acme');
    client = await service.createClient(tenant);
    other = await service.createClient(tenant);
  });
  afterAll(() => service.close());

  test('68 (RFC 7009 §2.1, §2.2): revoking a refresh token revokes its family, including its access tokens at once', async () => {
    const [ended, living] = [await issue(), await issue()];
    const response = await revoke(ended.refresh_token);
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect([response.headers.get('cache-control'), response.headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
    await expectTokenError(await refresh(ended.refresh_token), 'invalid_grant');
    const refused = await service.get('/v1/subscription', ended.access_token);
    expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"');
    await expectProblem(refused, 'UNAUTHORISED');
    expect([await reads(living), (await refresh(living.refresh_token)).status]).toEqual([200, 200]);
  });

  test('68 (RFC 7009 §2.1): revoking a used refresh token revokes its family too', async () => {
    const first = await issue();
    const next = (await (await refresh(first.refresh_token)).json()) as typeof first;
    expect((await revoke(first.refresh_token)).status).toBe(200);
    await expectTokenError(await refresh(next.refresh_token), 'invalid_grant');
  });

  test('68 (RFC 7009 §2.1): revoking an access token revokes the family that it belongs to', async () => {
    const token = await issue();
    expect((await revoke(token.access_token, client, { token_type_hint: 'access_token' })).status).toBe(200);
    expect(await reads(token)).toBe(401);
    await expectTokenError(await refresh(token.refresh_token), 'invalid_grant');
  });

  test('68 (RFC 7009 §2.2.1): revoking an access token without a family is unsupported_token_type', async () => {
    const plain = await service.createClient(tenant, { grants: ['client_credentials'] });
    const token = await issue(plain);
    await expectTokenError(await revoke(token.access_token, plain), 'unsupported_token_type');
  });

  test.each(['', 'x', 'a.b.c', `${'A'.repeat(22)}.1.${'A'.repeat(43)}`, '\u0000'])(
    '68 (RFC 7009 §2.2): revoking %j, which is not a token, is 200 unless it is empty',
    async (token) => {
      const response = await revoke(token);
      if (token === '') await expectTokenError(response, 'invalid_request');
      else expect([response.status, await response.text()]).toEqual([200, '']);
    },
  );

  test.each(['refresh_token', 'access_token', 'no_such_hint'])(
    '69 (RFC 7009 §2.1): token_type_hint %s is only a hint',
    async (hint) => {
      const token = await issue();
      expect((await revoke(token.refresh_token, client, { token_type_hint: hint })).status).toBe(200);
      await expectTokenError(await refresh(token.refresh_token), 'invalid_grant');
    },
  );

  test("69 (RFC 7009 §2.1): another client's token is not revoked and gets the same response as an unknown one", async () => {
    const token = await issue();
    for (const each of [token.refresh_token, token.access_token]) {
      const [theirs, unknown] = [await revoke(each, other), await revoke('unknown', other)];
      expect([theirs.status, await theirs.text()]).toEqual([unknown.status, await unknown.text()]);
    }
    expect([await reads(token), (await refresh(token.refresh_token)).status]).toEqual([200, 200]);
  });

  test.each(['/oauth2/revoke', '/oauth2/introspect'])('68, 70: %s requires client authentication', async (path) => {
    const { refresh_token: token } = await issue();
    await expectTokenError(await send(path, { token }), 'invalid_client');
    await expectTokenError(await send(path, { token, ...client, client_secret: 'wrong' }), 'invalid_client');
    expect((await send(path, { token }, basic(client))).status).toBe(200);
    const got = await fetch(`${service.url}${path}`);
    expect(got.headers.get('allow')).toBe('OPTIONS, POST');
    await expectProblem(got, 'METHOD_NOT_ALLOWED');
    await expectTokenError(await send(`${path}?token=x`, { ...client }), 'invalid_request');
  });

  test('70 (RFC 7662 §2.2): introspecting a valid access token returns its claims', async () => {
    const token = await issue();
    expect(await (await introspect(token.access_token)).json()).toEqual({
      active: true,
      token_type: 'Bearer',
      client_id: client.client_id,
      sub: client.client_id,
      scope: 'subscription:read',
      iss: service.url,
      aud: service.baseUrl,
      iat: expect.any(Number),
      exp: expect.any(Number),
      jti: expect.any(String),
      sid: token.session_state,
    });
  });

  test('70 (RFC 7662 §2.2): introspecting a valid refresh token returns active, and a used one inactive', async () => {
    const before = now();
    const token = await issue();
    const answer = (await (await introspect(token.refresh_token)).json()) as { exp: number };
    expect(answer).toMatchObject({ active: true, token_type: 'refresh_token', client_id: client.client_id });
    expect(answer.exp - 1_800).toBeGreaterThanOrEqual(before);
    expect(answer.exp - 1_800).toBeLessThanOrEqual(now());
    await refresh(token.refresh_token);
    expect(await (await introspect(token.refresh_token)).json()).toEqual({ active: false });
  });

  test('70 (RFC 7662 §2.2, §4): introspecting any other token returns exactly {"active":false}', async () => {
    const [ended, theirs] = [await issue(), await issue(other)];
    await revoke(ended.refresh_token);
    const tokens = [ended.access_token, ended.refresh_token, theirs.access_token, theirs.refresh_token, 'x', 'a.b.c'];
    for (const token of tokens) expect(await (await introspect(token)).text()).toBe('{"active":false}');
    await expectTokenError(await introspect(''), 'invalid_request');
  });

  test('36 (RFC 9700 §4.14.2): rotating a secret revokes the tokens of the client only on request', async () => {
    for (const revokeTokens of [false, true]) {
      const own = await service.createClient(tenant);
      const token = await issue(own);
      const renewed = await rotateClientSecret(service.store, now(), own.client_id, { overlapSeconds: 60 });
      if (revokeTokens) await revokeAllTokens(service.store, now(), own.client_id);
      expect([await reads(token), (await refresh(token.refresh_token, renewed)).status]).toEqual(
        revokeTokens ? [401, 400] : [200, 200],
      );
    }
  });

  test('20, 36: the tokens of a disabled client are rejected at once', async () => {
    const own = await service.createClient(tenant);
    const token = await issue(own);
    expect(await reads(token)).toBe(200);
    await disableClient(service.store, own.client_id, now());
    expect(await reads(token)).toBe(401);
    await expectTokenError(await refresh(token.refresh_token, own), 'invalid_client');
  });

  test('the last use of a client is recorded to the minute', async () => {
    const own = await service.createClient(tenant);
    expect((await findClient(service.store, own.client_id))?.lastUsedAt).toBeNull();
    const before = now();
    await issue(own);
    const first = (await findClient(service.store, own.client_id))?.lastUsedAt ?? 0;
    expect(first).toBeGreaterThanOrEqual(before);
    expect(first).toBeLessThanOrEqual(now());
    await issue(own);
    expect((await findClient(service.store, own.client_id))?.lastUsedAt).toBe(first);
  });
});

describe.each(drawn)('a client with many refresh tokens on $engine', ({ openTestStore }) => {
  test('keeps the most recently used families, and all of other clients', async () => {
    const service = await startService(await openTestStore(), {}, { refreshFamiliesMax: 3 });
    const tenant = await service.createTenant('acme');
    const [client, other] = [await service.createClient(tenant), await service.createClient(tenant)];
    const issue = async (given: TestClient): Promise<string> =>
      ((await (await service.postToken({ grant_type: 'client_credentials', ...given })).json()) as TokenResponse)
        .refresh_token ?? '';
    const refresh = async (token: string, given = client) =>
      (await service.postToken({ grant_type: 'refresh_token', refresh_token: token, ...given })).status;
    const theirs = await issue(other);
    const tokens: string[] = [];
    for (let n = 0; n < 6; n += 1) tokens.push(await issue(client));
    const statuses: number[] = [];
    for (const token of tokens) statuses.push(await refresh(token));
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(statuses[5]).toBe(200);
    expect(await refresh(theirs, other)).toBe(200);
    await service.close();
  });
});
