import { request as httpRequest } from 'node:http';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { expectProblem, expectTokenError } from '../../../../test/support/expect-error.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import type { TokenResponse } from '../../../contract/oauth/token.ts';
import { rotateClientSecret } from '../../auth/clients/manage-clients.ts';
import { disableClient } from '../../storage/tables/client-changes.ts';

const drawn = drawOne(engines, import.meta.url);

const now = (): number => Math.floor(Date.now() / 1000);
const basic = ({ client_id, client_secret }: TestClient): string =>
  `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;

// Titles carry the number of the rule in packages/service/test/auth/token-checklist.md and the
// section of the standard.
describe.each(drawn)('the token endpoint on $engine', ({ openTestStore }) => {
  let service: TestService;
  let client: TestClient;
  const grant = { grant_type: 'client_credentials' };
  const post = (form: Record<string, string> | string, headers?: Record<string, string>) =>
    service.postToken(form, headers);
  const issue = async (given: TestClient = client, more: Record<string, string> = {}): Promise<TokenResponse> => {
    const response = await post({ ...grant, ...given, ...more });
    expect(response.status).toBe(200);
    return (await response.json()) as TokenResponse;
  };
  const refresh = (token: string | undefined, given: TestClient = client, more: Record<string, string> = {}) =>
    post({ grant_type: 'refresh_token', refresh_token: token ?? '', ...given, ...more });
  const refreshed = async (token: string | undefined, given: TestClient = client): Promise<TokenResponse> => {
    const response = await refresh(token, given);
    expect(response.status).toBe(200);
    return (await response.json()) as TokenResponse;
  };
  const newClient = async (options: Parameters<TestService['createClient']>[1] = {}): Promise<TestClient> =>
    service.createClient(await service.createTenant('acme'), options);

  beforeAll(async () => {
    const fixed = { tokenFailuresPerMinute: 1_000 };
    service = await startService(await openTestStore(), { ACCESS_TOKEN_SECONDS: '300' }, fixed);
    client = await newClient();
  });
  afterAll(() => service.close());

  describe('requests', () => {
    test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD'])(
      '1 (RFC 6749 §3.2, RFC 9110 §15.5.6): %s is 405 with Allow, never a token',
      async (method) => {
        const response = await fetch(
          `${service.url}/oauth2/token?grant_type=client_credentials&client_id=${client.client_id}`,
          { method },
        );
        expect(response.status).toBe(405);
        expect(response.headers.get('allow')).toBe('OPTIONS, POST');
        expect(await response.text()).not.toContain('access_token');
      },
    );

    test.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x', ''])(
      '2 (RFC 6749 App. B): a body of type %j is invalid_request',
      async (type) => {
        await expectTokenError(
          await post(new URLSearchParams({ ...grant, ...client }).toString(), { 'content-type': type }),
          'invalid_request',
        );
      },
    );

    test('2 (RFC 6749 App. B): parameters of the media type are accepted', async () => {
      const response = await post(
        { ...grant, ...client },
        { 'content-type': 'Application/X-WWW-Form-URLencoded; charset=UTF-8' },
      );
      expect(response.status).toBe(200);
    });

    test.each(['\r\n', '\n'])('2 (RFC 6749 App. B): a form body that ends in %j is read without it', async (end) => {
      const form = new URLSearchParams({ grant_type: 'client_credentials', ...client }).toString();
      expect((await service.postToken(form + end)).status).toBe(200);
      await expectTokenError(await service.postToken(`${form}${end}&x=y`), 'invalid_request');
      await expectTokenError(await service.postToken(`${form}${end}${end}`), 'invalid_request');
    });

    test('3 (RFC 6749 §2.3.1): credentials in the URL are rejected', async () => {
      const response = await fetch(`${service.url}/oauth2/token?client_secret=${client.client_secret}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ ...grant, client_id: client.client_id }).toString(),
      });
      await expectTokenError(response, 'invalid_request');
    });

    test.each(['grant_type', 'client_id', 'client_secret', 'scope', 'refresh_token'])(
      '4 (RFC 6749 §3.2): %s twice is invalid_request',
      async (name) => {
        const form = new URLSearchParams({ ...grant, ...client, scope: 'subscription:read', refresh_token: 'x' });
        form.append(name, form.get(name) ?? '');
        await expectTokenError(await post(form.toString()), 'invalid_request');
      },
    );

    test('5 (RFC 6749 §3.2): an empty value counts as absent', async () => {
      expect((await issue(client, { scope: '' })).scope).toBe('subscription:read');
      await expectTokenError(await post({ ...client, grant_type: '' }), 'invalid_request');
    });

    test('6 (RFC 6749 §3.2): unknown parameters are ignored', async () => {
      expect((await issue(client, { audience: 'x', resource: 'y' })).token_type).toBe('Bearer');
    });

    test.each([
      ['a bad % escape', 'grant_type=%ZZ'],
      ['bytes that are not UTF-8', 'grant_type=%ff'],
      ['raw bytes outside of ASCII', 'grant_type=clé'],
      ['a control character', 'grant_type=a\u0000b'],
      ['a body of 100 kB', `grant_type=${'x'.repeat(100_000)}`],
      ['no body', ''],
    ])('8 (robustness): %s is a 4xx in JSON', async (_title, body) => {
      const error = await expectTokenError(await post(body), 'invalid_request');
      expect(error.error_description).toMatch(/^Cannot /);
    });
  });

  describe('client authentication', () => {
    test('9 (RFC 6749 §2.3.1): client_secret_post works', async () => {
      expect((await issue()).access_token).toMatch(/^eyJ/);
    });

    test.each(['Basic', 'basic', 'BASIC'])(
      '10 (RFC 6749 §2.3.1, RFC 9110 §11.1): client_secret_basic works, spelled %s',
      async (scheme) => {
        const response = await post(grant, { authorization: basic(client).replace('Basic', scheme) });
        expect(response.status).toBe(200);
      },
    );

    test('11 (RFC 6749 §2.3.1, RFC 7617 §2): both halves of Basic are form-encoded, split at the first colon', async () => {
      const secret = 'p@ss: w+rd%20 with:colons';
      const special = await newClient({ secret, clientId: `special:${Math.random()}` });
      const encode = (text: string): string => encodeURIComponent(text).replaceAll('%20', '+');
      const header = `Basic ${Buffer.from(`${encode(special.client_id)}:${encode(secret)}`).toString('base64')}`;
      expect((await post(grant, { authorization: header })).status).toBe(200);
      expect((await post({ ...grant, ...special })).status).toBe(200);
    });

    test('12 (RFC 6749 §2.3.1): a session-wide Authorization: Bearer in addition to valid credentials in the body is ignored', async () => {
      const bearer = { authorization: `Bearer ${(await issue()).access_token}` };
      for (const authorization of [bearer.authorization, 'bearer x', 'Negotiate abc'])
        expect((await post({ ...grant, ...client }, { authorization })).status).toBe(200);
      await expectTokenError(await post({ ...grant, ...client, client_secret: 'wrong' }, bearer), 'invalid_client');
      await expectTokenError(await post({ ...grant, client_id: client.client_id }, bearer), 'invalid_client');
      await expectTokenError(await post(grant, bearer), 'invalid_client');
      await expectTokenError(await post({ ...grant, ...client }, { authorization: 'Basic' }), 'invalid_request');
    });

    test('13 (RFC 6749 §2.3): Basic together with a secret in the body is invalid_request', async () => {
      await expectTokenError(
        await post({ ...grant, client_secret: client.client_secret }, { authorization: basic(client) }),
        'invalid_request',
      );
    });

    test('14 (RFC 6749 §3.2.1): client_id in the body must equal that of Basic', async () => {
      expect((await post({ ...grant, client_id: client.client_id }, { authorization: basic(client) })).status).toBe(
        200,
      );
      await expectTokenError(
        await post({ ...grant, client_id: 'other' }, { authorization: basic(client) }),
        'invalid_request',
      );
    });

    test('15 (RFC 6749 §5.2): no authentication and other schemes are invalid_client', async () => {
      await expectTokenError(await post(grant, { authorization: 'Bearer abc' }), 'invalid_client');
      await expectTokenError(await post(grant, { authorization: 'Digest username="x"' }), 'invalid_client');
    });

    test.each([
      ['no client_id', { clientId: 'a', client_secret: 'b' }, '; not sent: client_id'],
      ['no client_secret', { client_id: 'a' }, '; not sent: client_secret'],
      [
        'a blank',
        { client_id: ' a', client_secret: 'secret ' },
        '; client_id has U+0020 after 0 characters; client_secret has U+0020 after 6 characters',
      ],
      ['a line break', { client_id: 'a\r\n', client_secret: 'b' }, '; client_id has U+000D after 1 characters'],
    ])('15 (RFC 6749 §5.2): %s in the credentials is named', async (_what, sent, named) => {
      const { error_description } = await expectTokenError(await post({ ...grant, ...sent }), 'invalid_client');
      expect(error_description).toMatch(new RegExp(`be those of an active client${named.replaceAll('+', '\\+')}$`));
    });

    test('15, 20 (RFC 6749 §5.2, §10.4): an unknown client, a wrong secret and a disabled client get the same response, byte by byte', async () => {
      const disabled = await newClient();
      const token = (await issue(disabled)).refresh_token;
      await disableClient(service.store, disabled.client_id, now());
      const answers = await Promise.all([
        post({ ...grant, client_id: 'nobody', client_secret: 'x' }),
        post({ ...grant, client_id: client.client_id, client_secret: 'x' }),
        post({ ...grant, ...disabled }),
        refresh(token, disabled),
      ]);
      const bodies = await Promise.all(answers.map((answer) => answer.text()));
      expect(new Set(bodies).size).toBe(1);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    });

    test('16 (RFC 6749 §5.2, RFC 9110 §15.5.2): every 401 carries a challenge that names the error', async () => {
      const response = await post({ ...grant, client_id: 'nobody', client_secret: 'x' });
      expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm="subreport", error="invalid_client"/);
    });

    test('18 (RFC 6749 §10.10): generated secrets are 256 random bits in base64url, and stored hashed', async () => {
      const made = await newClient();
      expect(made.client_secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(made.client_id).toMatch(/^[A-Za-z0-9_-]+$/);
      const rows = await service.store.readDirectory('select hash from client_secret');
      expect(JSON.stringify(rows)).not.toContain(made.client_secret);
    });

    test('a secret that a person may have chosen is stored as argon2id, and works', async () => {
      const moved = await newClient({ secret: 'correct horse battery', clientId: `moved-${Math.random()}` });
      expect((await issue(moved)).token_type).toBe('Bearer');
      await expectTokenError(
        await post({ ...grant, client_id: moved.client_id, client_secret: 'correct horse' }),
        'invalid_client',
      );
      const rows = await service.store.readDirectory('select hash from client_secret where client_id = $1', [
        moved.client_id,
      ]);
      // a PHC string (A 11.4.4)
      expect(rows[0]?.hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    });

    test('the old and the new secret work during the overlap, then only the new one', async () => {
      const moving = await newClient();
      const rotated = await rotateClientSecret(service.store, now(), moving.client_id, {
        overlapSeconds: 60,
      });
      await issue(moving);
      await issue(rotated);
      const last = await rotateClientSecret(service.store, now(), moving.client_id, {
        overlapSeconds: 0,
      });
      await expectTokenError(await post({ ...grant, ...moving }), 'invalid_client');
      await expectTokenError(await post({ ...grant, ...rotated }), 'invalid_client');
      await issue(last);
    });
  });

  describe('grants', () => {
    test('21 (RFC 6749 §5.2): a missing grant_type is invalid_request', async () => {
      await expectTokenError(await post({ ...client }), 'invalid_request');
    });

    test.each(['password', 'Client_Credentials', '__proto__', ' client_credentials'])(
      '21 (RFC 6749 §5.2): grant_type %j is unsupported_grant_type',
      async (grantType) => {
        await expectTokenError(await post({ grant_type: grantType, ...client }), 'unsupported_grant_type');
      },
    );

    test('21 (RFC 6749 §5.2): a line break at the end of grant_type is named', async () => {
      const response = await post({ grant_type: 'client_credentials\r\n', ...client });
      const { error_description } = await expectTokenError(response, 'unsupported_grant_type');
      expect(error_description).toMatch(/; grant_type has U\+000D after 18 characters$/);
    });

    test('22 (RFC 6749 §5.2): a grant that the client may not use is unauthorized_client', async () => {
      const limited = await newClient({ grants: ['client_credentials'] });
      await expectTokenError(await refresh('x', limited), 'unauthorized_client');
    });

    test('24 (RFC 6749 §4.4.3): a client without the refresh grant gets no refresh token, and refresh_expires_in 0', async () => {
      const limited = await newClient({ grants: ['client_credentials'] });
      const token = await issue(limited);
      expect(token).not.toHaveProperty('refresh_token');
      expect(token.refresh_expires_in).toBe(0);
    });

    test.each(['admin', 'subscription:read admin', 'Subscription:Read', 'subscription:read  ', ' '])(
      '25 (RFC 6749 §3.3): scope %j is invalid_scope',
      async (scope) => {
        await expectTokenError(await post({ ...grant, ...client, scope }), 'invalid_scope');
      },
    );

    test.each(['openid', 'openid profile email', 'offline_access', 'openid subscription:read'])(
      '25 (RFC 6749 §3.3): scope %j of OpenID Connect is accepted and left out, refreshed too',
      async (scope) => {
        const token = await issue(client, { scope });
        expect([token.scope, decodeJwt(token.access_token).scope]).toEqual(['subscription:read', 'subscription:read']);
        const next = await post({
          grant_type: 'refresh_token',
          refresh_token: token.refresh_token ?? '',
          scope,
          ...client,
        });
        expect(await next.json()).toMatchObject({ scope: 'subscription:read' });
      },
    );

    test('25 (RFC 6749 §5.1): a token response always has the scope', async () => {
      expect((await issue(client, { scope: 'subscription:read' })).scope).toBe('subscription:read');
      expect((await issue()).scope).toBe('subscription:read');
    });

    test("26 (RFC 6749 §6): another client's token is invalid_grant and stays valid for its owner", async () => {
      const other = await newClient();
      const { refresh_token: token } = await issue();
      await expectTokenError(await refresh(token, other), 'invalid_grant');
      await refreshed(token);
    });

    test('26 (RFC 6749 §6): a refresh requires client authentication', async () => {
      const { refresh_token: token } = await issue();
      await expectTokenError(await post({ grant_type: 'refresh_token', refresh_token: token ?? '' }), 'invalid_client');
      await refreshed(token);
    });

    test('27 (RFC 6749 §5.2): a missing refresh_token is invalid_request', async () => {
      await expectTokenError(await post({ grant_type: 'refresh_token', ...client }), 'invalid_request');
    });

    test('27, 34 (RFC 6749 §5.2, §10.4): unknown, forged and truncated tokens are invalid_grant, with one message for all', async () => {
      const { refresh_token: token = '' } = await issue();
      const [family = '', generation = '', mac = ''] = token.split('.');
      const forged = [
        'x',
        `${family}.${generation}`,
        `${family}.2.${mac}`,
        `${'A'.repeat(22)}.1.${mac}`,
        token.slice(0, -1),
        `${token}A`,
        `${family}.${generation}.${mac.slice(0, -1)}${mac.endsWith('A') ? 'E' : 'A'}`,
        ' '.repeat(1_000),
      ];
      const errors = await Promise.all(
        forged.map(async (each) => expectTokenError(await refresh(each), 'invalid_grant')),
      );
      expect(new Set(errors.map(({ error_description }) => error_description)).size).toBe(1);
      expect(token).toMatch(/^[\x20-\x7e]+$/);
      await refreshed(token); // none of them has used it up
    });

    test('27 (RFC 4648 §3.5): a refresh token in another spelling of the same base64url is invalid_grant', async () => {
      const { refresh_token: token = '' } = await issue();
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      // 43 characters carry 258 bits for 256
      const other = token.slice(0, -1) + alphabet[alphabet.indexOf(token.at(-1) ?? '') + 1];
      await expectTokenError(await refresh(other), 'invalid_grant');
      expect((await refresh(token)).status).toBe(200);
    });

    test('28 (RFC 6749 §6): a scope beyond the granted one is invalid_scope and does not use up the token', async () => {
      const { refresh_token: token } = await issue();
      await expectTokenError(await refresh(token, client, { scope: 'subscription:read admin' }), 'invalid_scope');
      await refreshed(token);
    });

    test('29 (spec.md "Authentication" item 6): each refresh returns a new access token and a new refresh token', async () => {
      const first = await issue();
      const second = await refreshed(first.refresh_token);
      expect(second.access_token).not.toBe(first.access_token);
      expect(second.refresh_token).not.toBe(first.refresh_token);
      const third = await refreshed(second.refresh_token);
      expect(third.refresh_token).not.toBe(second.refresh_token);
    });

    test('30: a refresh with a wrong secret does not use up the token', async () => {
      const { refresh_token: token } = await issue();
      await expectTokenError(await refresh(token, { ...client, client_secret: 'wrong' }), 'invalid_client');
      await refreshed(token);
    });

    test('31 (RFC 9700 §4.14.2): reuse of a used token revokes its family and no other', async () => {
      const first = await issue();
      const other = await issue();
      const second = await refreshed(first.refresh_token);
      const third = await refreshed(second.refresh_token);
      await expectTokenError(await refresh(first.refresh_token), 'invalid_grant');
      await expectTokenError(await refresh(third.refresh_token), 'invalid_grant');
      await refreshed(other.refresh_token);
    });

    test('35 (RFC 6749 §1.5): an access token is no refresh token, and a refresh token is no access token', async () => {
      const token = await issue();
      await expectTokenError(await refresh(token.access_token), 'invalid_grant');
      await expectProblem(await service.get('/v1/subscription', token.refresh_token ?? ''), 'UNAUTHORISED');
    });
  });

  describe('answers', () => {
    test('37 (RFC 6749 §5.1): a token response is 200 with JSON and numeric times', async () => {
      const response = await post({ ...grant, ...client });
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await response.json()).toEqual({
        access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        token_type: 'Bearer',
        expires_in: 300,
        refresh_token: expect.stringMatching(/^[\w-]{22}\.1\.[\w-]{43}$/),
        // a second may pass between the start of the family and the response
        refresh_expires_in: expect.toSatisfy((seconds: number) => seconds > 1790 && seconds <= 1800),
        scope: 'subscription:read',
        'not-before-policy': 0,
        session_state: expect.stringMatching(/^[\w-]{22}$/),
      });
    });

    test('37: session_state stays the same across refreshes, as with Keycloak', async () => {
      const first = (await (await post({ ...grant, ...client })).json()) as TokenResponse;
      const next = (await (await refresh(first.refresh_token ?? '')).json()) as TokenResponse;
      expect([next.session_state, decodeJwt(next.access_token).sid]).toEqual([
        first.session_state,
        first.session_state,
      ]);
    });

    test('38 (RFC 6749 §5.1): a successful token response has Cache-Control: no-store', async () => {
      const response = await post({ ...grant, ...client });
      expect([response.headers.get('cache-control'), response.headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
    });

    test('39 (RFC 6749 §5.2): an error description does not echo the input', async () => {
      const error = await expectTokenError(
        await post({ grant_type: 'evil<script>', ...client }),
        'unsupported_grant_type',
      );
      expect(error.error_description).not.toContain('evil');
    });

    test('40 (RFC 6750 §5.2): no token, secret or form is in the log', () => {
      const log = service.logText();
      expect(log.length).toBeGreaterThan(1_000);
      for (const secret of [client.client_secret, 'grant_type=', 'evil<script>', 'Basic '])
        expect(log).not.toContain(secret);
      // An access token; a random id may contain its first three letters.
      expect(log).not.toMatch(/eyJ[\w-]*\.eyJ/);
      expect(log).not.toMatch(/[\w-]{22}\.\d+\.[\w-]{43}/);
    });
  });

  describe('access tokens', () => {
    test('42 (RFC 9068 §2.1): an access token has the header typ at+jwt, ES256 and a kid of the key set', async () => {
      const header = decodeProtectedHeader((await issue()).access_token);
      const { keys } = (await (await fetch(`${service.url}/oauth2/jwks`)).json()) as { keys: { kid: string }[] };
      expect(header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: keys[0]?.kid });
    });

    test('43, 44 (RFC 9068 §2.2, §3): an access token has the required claims, with the API as audience', async () => {
      const { access_token: token, expires_in: expiresIn } = await issue();
      const claims = decodeJwt(token);
      expect(claims).toEqual({
        iss: service.url,
        aud: service.baseUrl,
        sub: client.client_id,
        client_id: client.client_id,
        scope: 'subscription:read',
        sid: expect.stringMatching(/^[\w-]{22}$/),
        jti: expect.stringMatching(/^[\w-]{22}$/),
        iat: expect.any(Number),
        exp: expect.any(Number),
      });
      expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(expiresIn);
    });

    test('67 (RFC 7517): the key set has no private members', async () => {
      const { keys } = (await (await fetch(`${service.url}/oauth2/jwks`)).json()) as { keys: Record<string, string>[] };
      expect(keys).toHaveLength(1);
      expect(Object.keys(keys[0] ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    });

    test('66: what only the operator grants is in no public document', async () => {
      for (const path of ['/.well-known/openid-configuration', '/openapi.json'])
        expect(await (await fetch(service.url + path)).text()).not.toContain('subscription:write');
    });

    test('64, 65, 66 (RFC 8414 §2, §3): both discovery documents are equal and have the exact issuer', async () => {
      const documents = await Promise.all(
        ['openid-configuration', 'oauth-authorization-server'].map(async (name) =>
          (await fetch(`${service.url}/.well-known/${name}`)).json(),
        ),
      );
      expect(documents[0]).toEqual(documents[1]);
      expect(documents[0]).toMatchObject({
        issuer: service.url,
        token_endpoint: `${service.url}/oauth2/token`,
        jwks_uri: `${service.url}/oauth2/jwks`,
        response_types_supported: [],
        scopes_supported: ['subscription:read'],
        subject_types_supported: ['public'],
        // what the keys of the key set sign with
        id_token_signing_alg_values_supported: ['ES256'],
        grant_types_supported: ['client_credentials', 'refresh_token'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
        revocation_endpoint: `${service.url}/oauth2/revoke`,
        introspection_endpoint: `${service.url}/oauth2/introspect`,
      });
      expect(documents[0]).not.toHaveProperty('authorization_endpoint');
    });
  });
});

/** Returns the status of a token request sent from an address of this machine. */
function statusFrom(service: TestService, form: Record<string, string>, localAddress: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const sent = httpRequest(`${service.url}/oauth2/token`, { method: 'POST', localAddress, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(new URLSearchParams(form).toString());
  });
}

describe('time at the token endpoint', () => {
  const start = async (environment: Record<string, string>, tokenFailuresPerMinute: number) => {
    const service = await startService(await engines[0].openTestStore(), environment, { tokenFailuresPerMinute });
    const secret = 'correct horse battery';
    return { service, client: await service.createClient(await service.createTenant('acme'), { secret }) };
  };

  test('19 (RFC 6749 §2.3.1): too many failures get 429 with Retry-After, and the client is not locked out from other addresses', async () => {
    const { service, client } = await start({}, 3);
    const guess = () =>
      service.postToken({ grant_type: 'client_credentials', client_id: client.client_id, client_secret: 'guess' });
    for (let attempt = 0; attempt < 3; attempt += 1) await expectTokenError(await guess(), 'invalid_client');
    const refused = await guess();
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait > 0 && wait <= 60).toBe(true);
    await expectTokenError(refused, 'slow_down');
    const other = await service.createClient(await service.createTenant('globex'));
    expect((await service.postToken({ grant_type: 'client_credentials', ...other })).status).toBe(200);
    // trusted from nobody, or a guesser would send a new address each time
    const forwarded = { 'x-forwarded-for': '192.0.2.7' };
    const right = { grant_type: 'client_credentials', ...client };
    await expectTokenError(await service.postToken(right, forwarded), 'slow_down');
    expect([await statusFrom(service, right, '127.0.0.1'), await statusFrom(service, right, '127.0.0.2')]).toEqual([
      429, 200,
    ]);
    await service.close();
  });

  test('19: behind a trusted proxy the budget belongs to the forwarded address', async () => {
    const { service, client } = await start({ TRUSTED_PROXIES: '127.0.0.0/8' }, 1);
    const from = (address: string, secret: string) =>
      service.postToken(
        { grant_type: 'client_credentials', client_id: client.client_id, client_secret: secret },
        { 'x-forwarded-for': address },
      );
    await expectTokenError(await from('192.0.2.7', 'guess'), 'invalid_client');
    await expectTokenError(await from('192.0.2.7', client.client_secret), 'slow_down');
    expect((await from('192.0.2.8', client.client_secret)).status).toBe(200);
    await service.close();
  });
});
