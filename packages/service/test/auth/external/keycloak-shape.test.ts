import { decodeProtectedHeader } from 'jose';
import type { MutableToken } from 'oauth2-mock-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../../test/support/draw.ts';
import { engines } from '../../../../../test/support/engines.ts';
import { expectProblem } from '../../../../../test/support/expect-error.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';
import { createExternalClient } from '../../../auth/clients/manage-clients.ts';
import { type KeycloakShapedIssuer, startKeycloakShapedIssuer } from './issuers.ts';

const drawn = drawOne(engines, import.meta.url);

const report = '/v1/subscription';
const now = (): number => Math.floor(Date.now() / 1000);

type Edit = (token: MutableToken) => void;
/** Changes claims; `undefined` removes one. */
const claims =
  (changed: Record<string, unknown>): Edit =>
  ({ payload }) =>
    void Object.assign(payload, changed);
const type =
  (typ: string | undefined): Edit =>
  ({ header }) =>
    void Object.assign(header, { typ });

/** Claims that differ between a user's token and that of a service account. */
const ofUser = { client_id: undefined, clientHost: undefined, sid: '7a1e', acr: '1' };

// Titles carry the number of the rule in packages/service/test/auth/token-checklist.md and the
// section of the standard.
describe.each(drawn)('tokens in the shape of Keycloak on $engine', ({ openTestStore }) => {
  let issuer: KeycloakShapedIssuer;
  let service: TestService;
  const token = (edit?: Edit, clientId = 'acme-portal') => issuer.token(clientId, service.baseUrl, edit);
  const status = async (edit?: Edit) => (await service.get(report, await token(edit))).status;

  beforeAll(async () => {
    issuer = await startKeycloakShapedIssuer();
    service = await startService(await openTestStore(), { OIDC_ISSUER: issuer.url, OIDC_PROFILE: 'keycloak' });
    for (const name of ['acme', 'globex']) {
      const tenant = await service.createTenant(name);
      await createExternalClient(service.store, now(), { tenant, clientId: `${name}-portal` });
    }
  });
  afterAll(async () => {
    await service.close();
    await issuer.server.stop();
  });

  test.each<[string, Edit | undefined, number]>([
    ['55 (RFC 9068 §4): a good token: typ JWT, scope "profile email"', undefined, 200],
    ['55 (RFC 9068 §4): typ at+jwt, as Keycloak has it on request', type('at+jwt'), 200],
    ['55 (RFC 9068 §4): no typ in the header', type(undefined), 200],
    ['55 (RFC 8725 §3.11): typ of a logout token', type('logout+jwt'), 401],
    ['55 (RFC 8725 §3.11): typ of a DPoP proof', type('dpop+jwt'), 401],
    ['55 (RFC 8725 §3.12): payload typ ID', claims({ typ: 'ID' }), 401],
    ['55 (RFC 8725 §3.12): payload typ Refresh', claims({ typ: 'Refresh' }), 401],
    ['55 (RFC 8725 §3.12): payload typ Offline', claims({ typ: 'Offline' }), 401],
    ['55 (RFC 8725 §3.12): payload typ Logout', claims({ typ: 'Logout' }), 401],
    ['55 (RFC 8725 §3.12): no payload typ', claims({ typ: undefined }), 200],
    ['55 (RFC 8725 §3.12): nonce', claims({ nonce: 'n' }), 401],
    ['55 (RFC 8725 §3.12): at_hash', claims({ at_hash: 'h' }), 401],
    [
      "62: a user's token of the same client",
      claims({ ...ofUser, preferred_username: 'ada', email: 'ada@example.com' }),
      401,
    ],
    ["62: a user's lightweight token, which has no name", claims({ ...ofUser, preferred_username: undefined }), 401],
    ['62: the service account of another client', claims({ preferred_username: 'service-account-globex-portal' }), 401],
    ['62: a token of somebody who signed in', claims({ auth_time: now() }), 401],
    ['62: a service account without a name, by clientHost', claims({ preferred_username: undefined }), 200],
    ['55 (OpenID Connect Back-Channel Logout §2.4): events', claims({ events: {} }), 401],
    ['56 (RFC 8725 §3.9): aud account, Keycloak without an audience mapper', claims({ aud: 'account' }), 401],
    ['56 (RFC 8725 §3.9): no aud', claims({ aud: undefined }), 401],
    ['56 (RFC 8725 §3.8): another realm', ({ payload }) => Object.assign(payload, { iss: `${payload.iss}/` }), 401],
    ['57 (RFC 7519 §4.1.4): ended', ({ payload }) => Object.assign(payload, { exp: now() - 61 }), 401],
    ['62 (RFC 9700 §4.15): client in azp alone', claims({ client_id: undefined }), 200],
    ['62: client in client_id alone', claims({ azp: undefined }), 200],
    ['62: azp another client of ours', claims({ azp: 'globex-portal' }), 401],
    [
      '62: no client claim, although sub and preferred_username name a client',
      ({ payload }) => {
        Object.assign(payload, { azp: undefined, client_id: undefined, sub: 'acme-portal' });
        Object.assign(payload, { preferred_username: 'acme-portal', clientId: 'acme-portal' });
      },
      401,
    ],
    ['62: an unknown client', claims({ azp: 'nobody', client_id: 'nobody', sub: 'acme-portal' }), 401],
    ['52: no scope at all, none being needed', claims({ scope: undefined }), 200],
  ])('%s', async (_title, edit, expected) => {
    expect(await status(edit)).toBe(expected);
  });

  test('55 (RFC 9068 §4): the ID token of a user who signed in at our client gets 401', async () => {
    for (const audience of ['acme-portal', service.baseUrl]) {
      await expectProblem(await service.get(report, await issuer.idToken(audience)), 'UNAUTHORISED');
    }
  });

  test('55 (RFC 9068 §4): without the profile, the same token gets 401 that says what it needs', async () => {
    const strict = await startService(await openTestStore(), { OIDC_ISSUER: issuer.url });
    const tenant = await strict.createTenant('acme');
    await createExternalClient(strict.store, now(), { tenant, clientId: 'acme-portal' });
    const get = async (edit?: Edit) => strict.get(report, await issuer.token('acme-portal', strict.baseUrl, edit));
    expect((await get()).headers.get('www-authenticate')).toContain('its header typ must be at+jwt');
    const standard: Edit = (token) => {
      type('at+jwt')(token);
      claims({ scope: 'profile subscription:read' })(token);
    };
    expect((await get(standard)).status).toBe(200);
    await strict.close();
  });

  test('59 (RFC 7515 §4.1.4): a new key of the issuer is fetched at its first token, once for concurrent tokens', async () => {
    expect(await status()).toBe(200);
    await issuer.rotateKey('kc-2');
    const [first, second] = [await token(), await token()];
    expect([first, second].map((each) => decodeProtectedHeader(each).kid)).toEqual(['kc-2', 'kc-2']);
    const answers = await Promise.all(
      [first, second, first, second].map(async (each) => (await service.get(report, each)).status),
    );
    expect(new Set(answers)).toEqual(new Set([200]));
  });

  test('61: while the issuer is down, tokens signed with the last fetched keys are valid', async () => {
    const first = await token();
    const second = await token();
    expect((await service.get(report, first)).status).toBe(200);
    await issuer.stop();
    expect((await service.get(report, first)).status).toBe(200);
    expect((await service.get(report, second)).status).toBe(200); // not seen before
    await issuer.restart();
  });
});

describe('tokens in other shapes', () => {
  const shapes = [
    {
      shape: 'Okta: no typ, cid, scp as a list',
      settings: { OIDC_CLIENT_ID_CLAIM: 'cid', OIDC_SCOPE_CLAIM: 'scp', OIDC_REQUIRED_SCOPE: 'subscription:read' },
      edit:
        (clientId: string, scopes: string[]): Edit =>
        (token) => {
          type(undefined)(token);
          claims({ azp: undefined, client_id: undefined, scope: undefined, cid: clientId, scp: scopes })(token);
          claims({ ver: 1, sub: clientId, typ: undefined, preferred_username: undefined, clientHost: undefined })(
            token,
          );
        },
    },
    {
      shape: 'Auth0: azp, issuer with a slash',
      slash: true,
      settings: { OIDC_CLIENT_ID_CLAIM: 'azp', OIDC_REQUIRED_SCOPE: 'read:subscriptions' },
      edit: (clientId: string, scopes: string[]): Edit =>
        claims({
          azp: clientId,
          client_id: undefined,
          gty: 'client-credentials',
          preferred_username: undefined,
          clientHost: undefined,
          typ: undefined,
          sub: `${clientId}@clients`,
          scope: scopes.join(' ').replace('subscription:read', 'read:subscriptions'),
        }),
    },
    {
      shape: 'Entra ID: appid, roles as a list',
      settings: { OIDC_CLIENT_ID_CLAIM: 'appid', OIDC_SCOPE_CLAIM: 'roles', OIDC_REQUIRED_SCOPE: 'subscription:read' },
      edit: (clientId: string, scopes: string[]): Edit =>
        claims({
          azp: undefined,
          client_id: undefined,
          typ: undefined,
          scope: undefined,
          preferred_username: undefined,
          clientHost: undefined,
          appid: clientId,
          oid: '6f1c',
          sub: '6f1c',
          roles: scopes,
        }),
    },
    {
      shape: 'scp as a text',
      settings: { OIDC_SCOPE_CLAIM: 'scp', OIDC_REQUIRED_SCOPE: 'subscription:read' },
      edit: (_clientId: string, scopes: string[]): Edit =>
        claims({ scope: 'subscription:read', scp: scopes.join(' ') }),
    },
  ];

  test.each(shapes)('62: $shape', async ({ settings, edit, slash }) => {
    const issuer = await startKeycloakShapedIssuer(slash);
    const [{ openTestStore }] = engines;
    const service = await startService(await openTestStore(), {
      OIDC_ISSUER: issuer.url,
      OIDC_PROFILE: 'keycloak',
      ...settings,
    });
    const tenant = await service.createTenant('acme');
    await createExternalClient(service.store, now(), { tenant, clientId: 'acme' });
    const status = async (clientId: string, scopes: string[]) =>
      (await service.get(report, await issuer.token(clientId, service.baseUrl, edit(clientId, scopes)))).status;
    expect(issuer.url.endsWith('/')).toBe(slash === true);
    expect(await status('acme', ['other', 'subscription:read'])).toBe(200);
    expect(await status('acme', ['other'])).toBe(403);
    expect(await status('nobody', ['subscription:read'])).toBe(401);
    await service.close();
    await issuer.server.stop();
  });
});
