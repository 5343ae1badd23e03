import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { consoleClient, type SignInProvider, startSignInProvider } from '../../../../test/support/sign-in-provider.ts';
import { createExternalClient } from '../../auth/clients/manage-clients.ts';
import { directoryStatement } from '../../storage/store.ts';
import { disableClient } from '../../storage/tables/client-changes.ts';

const now = (): number => Math.floor(Date.now() / 1000);

/** Sends requests with the cookies of each origin, and follows no redirect. */
function openBrowser() {
  const jars = new Map<string, Map<string, string>>();
  return async (url: string, init: RequestInit = {}): Promise<Response> => {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', ...init, headers: { cookie, ...init.headers } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  };
}

type Browse = ReturnType<typeof openBrowser>;

const locationOf = (response: Response): string => response.headers.get('location') ?? '';

describe('sign-in to the console at an identity provider', () => {
  let provider: SignInProvider;
  let service: TestService;

  beforeAll(async () => {
    provider = await startSignInProvider('localhost');
    service = await startService(await engines[0].openTestStore(), {
      OIDC_ISSUER: provider.url,
      OIDC_CONSOLE_CLIENT_ID: consoleClient.id,
      OIDC_CONSOLE_CLIENT_SECRET: consoleClient.secret,
    });
    await provider.serve(service.url);
    for (const name of ['acme', 'globex', 'gone']) {
      const tenant = await service.createTenant(name);
      await createExternalClient(service.store, now(), { tenant, clientId: `${name}-people` });
      await service.createClient(tenant, { clientId: `${name}-own` });
    }
    await disableClient(service.store, 'gone-people', now());
    Object.assign(provider.claims, {
      ada: { subreport_client: 'acme-people' },
      'ada@example.com': { subreport_client: 'acme-people' },
      bob: { subreport_client: ['globex-people', 'role.of.another.application', 'acme-own'] },
      own: { subreport_client: 'acme-own' },
      gone: { subreport_client: 'gone-people' },
      both: { subreport_client: ['acme-people', 'globex-people'] },
      many: { subreport_client: Array.from({ length: 101 }, (_, n) => `role-${n}`) },
      sub: {},
    });
  });
  afterAll(async () => {
    await service.close();
    await provider.close();
  });

  const begin = async (browse: Browse, returnTo = '/console/'): Promise<string> =>
    locationOf(await browse(`${service.url}/console/sign-in?${new URLSearchParams({ return_to: returnTo })}`));

  /** Signs in at the provider; returns the redirect URI with the authorization response. */
  async function authorize(browse: Browse, url: string, form: Record<string, string>): Promise<string> {
    let response = await browse(url);
    if (locationOf(response).startsWith('/interaction/'))
      response = await browse(provider.url + locationOf(response), { method: 'POST', body: new URLSearchParams(form) });
    while (locationOf(response).startsWith(provider.url)) response = await browse(locationOf(response));
    return locationOf(response);
  }

  const signIn = async (browse: Browse, name: string, returnTo?: string): Promise<Response> =>
    browse(await authorize(browse, await begin(browse, returnTo), { name }));

  const session = async (browse: Browse): Promise<Response> => browse(`${service.url}/console/session`);

  const expectPage = async (response: Response, status: number, sentence: string): Promise<string> => {
    const html = await response.text();
    expect(html).toContain(sentence);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'; style-src 'sha256-");
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(html).toContain('Try again</a>');
    return html;
  };

  test.each([
    ['ada', 'acme-people', 'acme'],
    ['bob', 'globex-people', 'globex'],
  ])('%s gets a session of the client that the ID token names, and returns to the same page', async (...row) => {
    const [name, clientId, tenant] = row;
    const browse = openBrowser();
    const response = await signIn(browse, name, '/console/subscriptions?status=ACTIVE');
    expect([response.status, locationOf(response)]).toEqual([
      303,
      `${service.url}/console/subscriptions?status=ACTIVE`,
    ]);
    expect(await (await session(browse)).json()).toMatchObject({ client_id: clientId, tenant });
    expect((await browse(`${service.url}/console/connect-api/v1/subscription`)).status).toBe(200);
    const line = service.log.findLast(({ route }) => route === '/console/callback');
    expect(line).toMatchObject({ subject: name, client_id: clientId, tenant, purpose: 'sign-in', outcome: 'accepted' });
  });

  test('a subject that is an email address is not logged', async () => {
    expect((await signIn(openBrowser(), 'ada@example.com')).status).toBe(303);
    const line = service.log.findLast(({ route }) => route === '/console/callback');
    expect(line).toMatchObject({ subject: '(omitted: it looks like an email address)', outcome: 'accepted' });
    expect(service.logText()).not.toContain('ada@example.com');
  });

  test('the sign-in sets a short-lived cookie for its own use, which the callback removes', async () => {
    const browse = openBrowser();
    const begun = await browse(`${service.url}/console/sign-in`);
    const [cookie = '', ...others] = begun.headers.getSetCookie();
    expect(others).toEqual([]);
    expect(cookie).toMatch(/^subreport-sign-in=[\w-]{43}\.[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/);
    const returned = await browse(await authorize(browse, locationOf(begun), { name: 'ada' }));
    expect(returned.headers.getSetCookie()).toEqual([
      'subreport-sign-in=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
      expect.stringMatching(/^subreport-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
  });

  test('a response of the provider is accepted once, and only in the browser that began the sign-in', async () => {
    const browse = openBrowser();
    const callback = await authorize(browse, await begin(browse), { name: 'ada' });
    const stranger = openBrowser();
    await expectPage(await stranger(callback), 400, 'This sign-in has expired');
    // with a transaction of its own (RFC 9700 §4.7)
    await begin(stranger);
    await expectPage(await stranger(callback), 400, 'This sign-in has expired');
    expect(await (await session(stranger)).json()).toEqual({ sign_in: ['secret', 'provider'] });
    expect((await browse(callback)).status).toBe(303);
    await expectPage(await browse(callback), 400, 'This sign-in has expired');
  });

  test('a code that was stolen from another sign-in is rejected by its code verifier', async () => {
    const [victim, thief] = [openBrowser(), openBrowser()];
    const stolen = new URL(await authorize(victim, await begin(victim), { name: 'ada' }));
    const own = new URL(await authorize(thief, await begin(thief), { name: 'bob' }));
    own.searchParams.set('code', stolen.searchParams.get('code') ?? '');
    await expectPage(await thief(own.href), 400, 'This sign-in has expired');
    expect(service.log.at(-2)).toMatchObject({ reason: 'the issuer does not accept the code' });
  });

  test.each([
    ['sub', 'without the claim', 'Your account may not read any report.'],
    ['own', 'whose claim names a client with a secret of ours', 'Your account may not read any report.'],
    ['gone', 'whose client is disabled', 'Your account may not read any report.'],
    ['acme-people', 'whose sub names a client', 'Your account may not read any report.'],
    ['both', 'whose claim names two clients', 'Your account has access to several clients'],
    ['many', 'whose claim has too many values', 'Your account has access to several clients'],
  ])('an account (%s) %s is not signed in, and the page offers to use another', async (name, _case, sentence) => {
    const browse = openBrowser();
    const html = await expectPage(await signIn(browse, name), 403, sentence);
    expect(html).toContain(`<a href="${service.url}/console/sign-out">`);
    expect(await (await session(browse)).json()).toEqual({ sign_in: ['secret', 'provider'] });
  });

  test('a client without the scope of the report signs nobody in', async () => {
    const tenant = await service.createTenant('initech');
    await createExternalClient(service.store, now(), { tenant, clientId: 'initech' });
    await service.store.writeDirectory([
      directoryStatement('update client set scopes = $2 where client_id = $1', ['initech', '']),
    ]);
    provider.claims.loader = { subreport_client: 'initech' };
    await expectPage(await signIn(openBrowser(), 'loader'), 403, 'Your account may not read any report.');
  });

  test('a person who cancels at the provider can try again and gets to the same page', async () => {
    const browse = openBrowser();
    const denied = await browse(
      await authorize(browse, await begin(browse, '/console/changes'), { name: '', cancel: '1' }),
    );
    const html = await expectPage(denied, 403, 'The identity provider did not sign you in.');
    expect(html).toContain(`href="${service.url}/console/sign-in?return_to=%2Fconsole%2Fchanges"`);
  });

  test.each([
    ['error=access_denied&state=x', 400],
    ['error=server_error&error_description=<script>alert(1)</script>', 400],
    ['code=x&state=y', 400],
    ['', 400],
    ['code=%00&state=%F0%9F%98%80&iss=javascript:alert(1)', 400],
    ['code=a&code=b&state=a&state=b', 400],
  ])('a made-up callback ?%s is a page with status %i that repeats nothing of it', async (query, status) => {
    for (const browse of [openBrowser(), openBrowser()]) {
      const html = await expectPage(await browse(`${service.url}/console/callback?${query}`), status, 'not signed in');
      expect(html).not.toContain('alert(1)');
      await begin(browse);
    }
  });

  test.each([
    'https://evil.example.com/',
    '//evil.example.com',
    '/\\evil.example.com',
    'javascript:alert(1)',
    '/console/../docs',
  ])('return_to=%s is rejected', async (target) => {
    const query = new URLSearchParams({ return_to: target });
    const response = await fetch(`${service.url}/console/sign-in?${query}`, { redirect: 'manual' });
    const problem = await expectProblem(response, 'INVALID_REQUEST_PARAMS');
    expect(problem.detail).toContain('return_to');
  });

  test.each([
    'https://evil.example.com/',
    '//evil.example.com/console/',
    '/\\evil.example.com/',
    '/console/../docs?evil.example.com',
    '/oauth2/token?evil.example.com',
    '/console/sign-out?evil.example.com',
  ])('a cookie that was changed to %s sends nobody there', async (target) => {
    const path = Buffer.from(target).toString('base64url');
    const response = await fetch(`${service.url}/console/callback?code=x&state=y`, {
      headers: { cookie: `subreport-sign-in=${'A'.repeat(43)}.${path}` },
    });
    const html = await expectPage(response, 400, 'This sign-in has expired');
    expect(html).not.toContain('evil.example.com');
    expect(html).toContain(`return_to=${encodeURIComponent('/console/')}`);
  });

  test('a link of another site to the sign-in leads to the console, without beginning one', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const response = await fetch(`${service.url}/console/sign-in?return_to=/console/changes`, {
        headers: { 'sec-fetch-site': site },
        redirect: 'manual',
      });
      expect([response.status, locationOf(response)]).toEqual([303, `${service.url}/console/changes`]);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
  });

  test('without a session, the response says that people sign in with a secret or at the provider', async () => {
    expect(await (await session(openBrowser())).json()).toMatchObject({ sign_in: ['secret', 'provider'] });
  });

  test('the sign-out of the provider begins with a redirect to it, and ends at the console', async () => {
    const url = new URL(locationOf(await openBrowser()(`${service.url}/console/sign-out`)));
    expect(url.origin).toBe(provider.url);
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${service.url}/console/`);
    expect((await fetch(url)).status).toBe(200); // the provider asks the person
  });

  test('no log line has a code, a state, a token or a secret of a sign-in', async () => {
    const browse = openBrowser();
    const url = await begin(browse);
    const callback = await authorize(browse, url, { name: 'ada' });
    await browse(callback);
    const secrets = [...new URL(callback).searchParams.values(), ...new URL(url).searchParams.values()];
    const hidden = secrets.filter((value) => value.length >= 43 && !value.includes('/'));
    expect(hidden.length).toBeGreaterThanOrEqual(4);
    for (const value of [...hidden, consoleClient.secret]) expect(service.logText()).not.toContain(value);
  });

  test('made-up responses of a network reach the provider 30 times a minute', async () => {
    const attacked = await startService(await engines[0].openTestStore(), {
      OIDC_ISSUER: provider.url,
      OIDC_CONSOLE_CLIENT_ID: consoleClient.id,
      OIDC_CONSOLE_CLIENT_SECRET: consoleClient.secret,
    });
    const [secret, path] = ['A'.repeat(43), Buffer.from('/console/').toString('base64url')];
    // whoever has the secret knows it
    const state = createHmac('sha256', secret).update('state').digest('base64url');
    const query = new URLSearchParams({ code: 'made-up', state, iss: provider.url });
    const headers = { cookie: `subreport-sign-in=${secret}.${path}` };
    const send = () => fetch(`${attacked.url}/console/callback?${query}`, { headers });
    const responses = await Promise.all(Array.from({ length: 40 }, send));
    const asked = attacked.log.filter(({ msg }) => msg === 'a sign-in at the identity provider failed');
    expect([responses.filter(({ status }) => status === 429).length, asked.length]).toEqual([10, 30]);
    await attacked.close();
  });

  test('responses of the provider count for the rate limit of their network, before the provider is asked', async () => {
    const limited = await startService(await engines[0].openTestStore(), {
      OIDC_ISSUER: provider.url,
      OIDC_CONSOLE_CLIENT_ID: consoleClient.id,
      OIDC_CONSOLE_CLIENT_SECRET: consoleClient.secret,
      RATE_LIMIT_PER_MINUTE: '1',
    });
    const cookie = `subreport-sign-in=${'A'.repeat(43)}.${Buffer.from('/console/').toString('base64url')}`;
    const send = () => fetch(`${limited.url}/console/callback?code=x&state=y`, { headers: { cookie } });
    await expectPage(await send(), 400, 'This sign-in has expired');
    const problem = await expectProblem(await send(), 'TOO_MANY_REQUESTS');
    expect(problem.detail).toContain('at most 1 requests per minute');
    await limited.close();
  });

  test('while the provider is down, a sign-in is a page with status 503', async () => {
    const down = await startService(await engines[0].openTestStore(), {
      OIDC_ISSUER: 'http://127.0.0.1:9',
      OIDC_CONSOLE_CLIENT_ID: consoleClient.id,
      OIDC_CONSOLE_CLIENT_SECRET: consoleClient.secret,
    });
    await expectPage(await fetch(`${down.url}/console/sign-in`), 503, 'The identity provider cannot sign you in now.');
    const signOut = await fetch(`${down.url}/console/sign-out`, { redirect: 'manual' });
    expect(locationOf(signOut)).toBe(`${down.url}/console/`);
    await down.close();
  });
});
