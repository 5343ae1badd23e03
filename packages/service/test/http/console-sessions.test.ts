import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ownPage, signIn, signInWith, type TestSession } from '../../../../test/support/console-session.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, startWorkers, type TestClient, type TestService } from '../../../../test/support/service.ts';
import { fetchOnce } from '../../../../test/support/workers.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { editClient, listClientSessions, revokeSession, revokeTokens } from '../../auth/clients/edit-client.ts';
import { rotateClientSecret } from '../../auth/clients/manage-clients.ts';
import { directoryStatement, type Store, type TenantId } from '../../storage/store.ts';
import { deleteClient, disableClient } from '../../storage/tables/client-changes.ts';
import { beginHistory } from '../../storage/tables/history.ts';
import { deleteDeadFamilies } from '../../storage/tables/refresh-family.ts';
import { clientSessions } from '../../storage/tables/session.ts';

const drawn = drawOne(engines, import.meta.url);

const report = '/connect-api/v1/subscription';
const now = (): number => Math.floor(Date.now() / 1000);

afterEach(() => vi.useRealTimers());

describe.each(drawn)('sessions of the console on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let service: TestService;
  let another: Store;
  let tenant: TenantId;
  let client: TestClient;

  beforeAll(async () => {
    opened = await openTestStore();
    service = await startService(opened, { RATE_LIMIT_PER_MINUTE: '0' });
    another = opened.openAgain();
    tenant = await service.createTenant('acme');
    client = await service.createClient(tenant);
    const rows = Array.from({ length: 30 }, (_, n) => subscriptionRow({ id: `acme-${n}`, createdDate: n }));
    await service.store.loadSubscriptions(tenant, rows);
    await service.store.loadSubscriptions(await service.createTenant('globex'), [subscriptionRow({ id: 'globex-1' })]);
  });
  afterAll(() => service.close());

  const expectEnded = async (session: TestSession, why: string) => {
    expect((await expectProblem(await session.send(`${report}?size=1`), 'SESSION_ENDED')).detail).toContain(why);
    expect(await (await session.send('/session')).json()).toEqual({ sign_in: ['secret'] });
  };
  const families = (clientId: string) => listClientSessions(service.store, now(), clientId);

  test('a sign-in returns the client and the times, and a cookie that scripts and other sites cannot use', async () => {
    const { signedIn } = await signIn(service.url, client);
    expect([signedIn.status, signedIn.headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(signedIn.headers.get('set-cookie')).toMatch(
      /^subreport-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const body = (await signedIn.json()) as Record<string, unknown>;
    expect(body).toEqual({
      client_id: client.client_id,
      name: null,
      tenant: 'acme',
      history_begins_at: expect.stringMatching(/Z$/),
      idle_seconds: 1_800,
      expires_at: expect.stringMatching(/Z$/),
      ends_at: expect.stringMatching(/Z$/),
    });
    expect(Date.parse(String(body.ends_at)) - Date.parse(String(body.expires_at))).toBe((43_200 - 1_800) * 1000);
  });

  test('a session reads every operation of its tenant, and no record of another one', async () => {
    const session = await signIn(service.url, client);
    const get = async (path: string) => (await session.send(`${report}${path}`)).json();
    expect(await get('?size=2&page=2')).toMatchObject([{ id: 'acme-2' }, { id: 'acme-3' }]);
    expect(await get('/acme-3')).toMatchObject({ id: 'acme-3' });
    expect(await get('/summary?by=status')).toMatchObject({ total: 30 });
    expect(await get('/changes?size=5')).toMatchObject({ changes: { length: 5 } });
    await expectProblem(await session.send(`${report}/globex-1`), 'NOT_FOUND');
    const searched = await session.send(`${report}/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"size":3}',
    });
    expect([searched.status, (await searched.json()) as unknown[]]).toEqual([
      200,
      expect.objectContaining({ length: 3 }),
    ]);
    const exported = await session.send(`${report}?all=true&format=ndjson`);
    expect((await exported.text()).trimEnd().split('\n')).toHaveLength(31);
    expect(exported.headers.get('cache-control')).toBe('no-store');
  });

  test('a response is not stored by the browser, and the page can ask whether it has changed', async () => {
    const session = await signIn(service.url, client);
    const first = await session.send(`${report}?size=1`);
    const etag = first.headers.get('etag') ?? '';
    expect([first.headers.get('cache-control'), first.headers.get('vary'), etag]).toEqual([
      'no-store',
      null,
      expect.stringMatching(/^"/),
    ]);
    const again = await session.send(`${report}?size=1`, { headers: { 'if-none-match': etag } });
    expect([again.status, again.headers.get('cache-control')]).toEqual([304, 'no-store']);
  });

  test('a cookie authorizes nothing on the API of other clients, and a token nothing below /console', async () => {
    const session = await signIn(service.url, client);
    const withCookie = await fetch(`${service.baseUrl}/v1/subscription`, { headers: { cookie: session.cookie } });
    await expectProblem(withCookie, 'UNAUTHORISED');
    const authorization = `Bearer ${await service.accessToken(client)}`;
    const withToken = await fetch(`${service.url}/console${report}`, { headers: { authorization } });
    await expectProblem(withToken, 'UNAUTHORISED');
    const withBoth = await session.send(`${report}?size=1`, { headers: { authorization: 'Bearer invalid' } });
    expect(withBoth.status).toBe(200);
  });

  test('a wrong secret, an unknown client and a disabled one get the same 401, which says how to sign in', async () => {
    const disabled = await service.createClient(tenant);
    await disableClient(service.store, disabled.client_id, now());
    const wrong = [{ ...client, client_secret: 'wrong' }, { ...client, client_id: 'unknown' }, disabled];
    const bodies = [];
    for (const each of wrong) {
      const { signedIn } = await signIn(service.url, each);
      expect(signedIn.headers.get('set-cookie')).toBeNull();
      expect(signedIn.headers.get('www-authenticate')).toBe('Cookie realm="subreport"');
      const { correlation_id: _, ...body } = await expectProblem(signedIn, 'UNAUTHORISED');
      bodies.push(body);
    }
    expect(bodies[0]).toMatchObject({ sign_in: ['secret'] });
    expect(bodies).toEqual([bodies[0], bodies[0], bodies[0]]);
  });

  test('a client without the scope of the report, or without the grant, cannot sign in', async () => {
    const writer = await service.createClient(tenant, { scopes: ['subscription:write'] });
    const refresher = await service.createClient(tenant, { grants: ['refresh_token'] });
    for (const each of [writer, refresher])
      await expectProblem((await signIn(service.url, each)).signedIn, 'ACCESS_DENIED');
  });

  test.each<[string, object | string]>([
    ['no member', {}],
    ['a secret that is no string', { client_id: 'a', client_secret: 7 }],
    ['an unknown member', { client_id: 'a', client_secret: 'b', scope: 'x' }],
  ])('a sign-in with %s is a 400 that repeats no value', async (_name, body) => {
    const { signedIn } = await signInWith(service.url, body as object);
    const { messages } = await expectProblem(signedIn, 'INVALID_REQUEST_PARAMS');
    expect(messages.join()).not.toContain('current value');
  });

  test.each<[string, Record<string, string>]>([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another port of this host', { 'sec-fetch-site': 'same-site' }],
    ['typed as a URL', { 'sec-fetch-site': 'none' }],
    ['of another origin in an old browser', { origin: 'https://evil.example' }],
    ['without a sign of its origin', {}],
  ])('a sign-in, a search and a sign-out by a page %s are rejected', async (_name, foreign) => {
    const session = await signIn(service.url, client);
    const headers = { ...foreign, cookie: session.cookie, 'content-type': 'application/json' };
    const send = (path: string, method: string, body?: string) =>
      fetch(`${service.url}/console${path}`, { method, headers, ...(body !== undefined && { body }) });
    await expectProblem(await send('/session', 'POST', JSON.stringify(client)), 'ACCESS_DENIED');
    await expectProblem(await send(`${report}/search`, 'POST', '{}'), 'ACCESS_DENIED');
    await expectProblem(await send('/session', 'DELETE'), 'ACCESS_DENIED');
    expect((await session.send('/session')).status).toBe(200);
  });

  test('a session that is not used for 30 minutes ends, and requests in the background do not use it', async () => {
    const start = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: start });
    const used = await signIn(service.url, client);
    const watched = await signIn(service.url, client);
    const background = { headers: { 'x-background': '1' } };
    vi.setSystemTime(start + 1_740_000);
    expect((await used.send(`${report}?size=1`)).status).toBe(200);
    for (const path of [`${report}?size=1`, '/session'])
      expect((await watched.send(path, background)).status).toBe(200);
    vi.setSystemTime(start + 1_800_000);
    await expectEnded(watched, 'not used');
    expect((await used.send('/session')).status).toBe(200);
    vi.setSystemTime(start + 3_600_000);
    await expectEnded(used, 'not used');
  });

  test('a session ends after 12 hours, however often it is used', async () => {
    const start = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: start });
    const session = await signIn(service.url, client);
    for (let minutes = 20; minutes < 720; minutes += 20) {
      vi.setSystemTime(start + minutes * 60_000);
      expect((await session.send('/session')).status).toBe(200);
    }
    vi.setSystemTime(start + 719 * 60_000);
    expect(await (await session.send('/session')).json()).toMatchObject({
      expires_at: new Date(Math.floor(start / 1000) * 1000 + 43_200_000).toISOString().replace('.000', ''),
    });
    vi.setSystemTime(start + 43_200_000);
    await expectEnded(session, 'maximum age');
  });

  test('uses are recorded at most once a minute', async () => {
    const start = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: start });
    const own = await service.createClient(tenant);
    const session = await signIn(service.url, own);
    const usedAfter = async (seconds: number) => {
      vi.setSystemTime(start + seconds * 1000);
      await session.send('/session');
      return ((await families(own.client_id))[0]?.rotatedAt ?? 0) - Math.floor(start / 1000);
    };
    expect([await usedAfter(59), await usedAfter(60), await usedAfter(119), await usedAfter(121)]).toEqual([
      0, 60, 60, 121,
    ]);
  });

  test('signing out ends the session at once and removes the cookie', async () => {
    const own = await service.createClient(tenant);
    const session = await signIn(service.url, own);
    expect(await families(own.client_id)).toHaveLength(1);
    const out = await session.send('/session', { method: 'DELETE' });
    expect([out.status, out.headers.get('set-cookie')]).toEqual([
      204,
      'subreport-console=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict',
    ]);
    await expectEnded(session, 'signed out or revoked');
    expect(await families(own.client_id)).toEqual([]);
    expect((await session.send('/session', { method: 'DELETE' })).status).toBe(204);
  });

  test('a sign-in gives a new id and ends the session of the same browser, whatever its cookie was', async () => {
    const first = await signIn(service.url, client);
    const second = await signIn(service.url, client, first.cookie);
    expect(second.cookie).not.toBe(first.cookie);
    await expectEnded(first, 'signed out or revoked');
    const planted = `subreport-console=${'A'.repeat(43)}`;
    const third = await signIn(service.url, client, planted);
    expect(third.cookie).not.toBe(planted);
    expect((await second.send('/session')).status).toBe(200);
  });

  test.each<[string, (clientId: string) => Promise<unknown>]>([
    ['client revoke-tokens', (id) => revokeTokens(another, now(), id)],
    [
      'client revoke-tokens of one session',
      async (id) => revokeSession(another, now(), id, (await families(id))[0]?.id ?? ''),
    ],
    [
      'client rotate --revoke-tokens',
      async (id) => {
        await rotateClientSecret(another, now(), id, { overlapSeconds: 0 });
        await revokeTokens(another, now(), id);
      },
    ],
    ['a restore', () => beginHistory(another, now())],
    ['disabling the client', (id) => disableClient(another, id, now())],
    ['removing its scope', (id) => editClient(another, now(), id, { scopes: ['subscription:write'] })],
    ['removing its grant', (id) => editClient(another, now(), id, { grants: ['refresh_token'] })],
    ['leaving it to the external issuer', (id) => editClient(another, now(), id, { external: true })],
  ])('%s by another process ends the session at the next request', async (_name, revoke) => {
    const own = await service.createClient(tenant);
    const session = await signIn(service.url, own);
    expect((await session.send(`${report}?size=1`)).status).toBe(200);
    await revoke(own.client_id);
    await expectEnded(session, 'signed out or revoked');
  });

  test('a sign-in that is stored only after its client was revoked gives no session', async () => {
    const own = await service.createClient(tenant);
    const session = await signIn(service.url, own);
    await revokeTokens(another, now(), own.client_id);
    const restore = 'update refresh_family set revoked_at = null where client_id = $1';
    await another.writeDirectory([directoryStatement(restore, [own.client_id])]);
    await expectEnded(session, 'signed out or revoked');
  });

  test('deleting the client ends the session, also if another client gets its id', async () => {
    const own = await service.createClient(tenant, { clientId: 'reborn' });
    const session = await signIn(service.url, own);
    await deleteClient(another, 'reborn');
    await service.createClient(tenant, { clientId: 'reborn' });
    await expectEnded(session, 'has ended');
  });

  test('a client that requests many tokens does not end its sessions, and has at most 100 of them', async () => {
    const own = await service.createClient(tenant);
    const first = await signIn(service.url, own);
    for (let n = 0; n < 160; n += 1) await service.accessToken(own);
    expect((await first.send('/session')).status).toBe(200);
    const start = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: start + 1_000 });
    for (let n = 0; n < 100; n += 1) await signIn(service.url, own);
    await expectEnded(first, 'signed out or revoked');
  });

  test('the hundred-and-first session of one second ends another one, and not itself', async () => {
    const { client_id: clientId } = await service.createClient(tenant);
    const startedAt = now();
    const times = { startedAt, expiresAt: startedAt + 60, capAt: startedAt + 60 };
    const start = (family: string) =>
      clientSessions.insert(service.store, clientId, { ...times, family, sha256: `hash of ${family}` });
    for (let n = 100; n < 200; n += 1) await start(`family-${n}`);
    await start('last in the order of ids');
    expect(await clientSessions.find(service.store, 'hash of last in the order of ids')).toMatchObject({
      session: { revokedAt: null },
    });
    expect(await families(clientId)).toHaveLength(100);
  });

  test('ended sessions are swept', async () => {
    const own = await service.createClient(tenant);
    const session = await signIn(service.url, own);
    await deleteDeadFamilies(another, now() + 1_799);
    expect((await session.send('/session')).status).toBe(200);
    await deleteDeadFamilies(another, now() + 1_900);
    await expectEnded(session, 'has ended');
  });

  test('the store and the log have neither the secret nor the id of a session', async () => {
    const session = await signIn(service.url, client);
    await session.send(`${report}?size=1`);
    await session.send('/session', { method: 'DELETE' });
    const id = session.cookie.split('=')[1] ?? '';
    expect(id).toHaveLength(43);
    const stored = JSON.stringify(await service.store.readDirectory('select * from refresh_family'));
    expect(stored).toContain('session_sha256');
    for (const secret of [id, client.client_secret]) {
      expect(stored).not.toContain(secret);
      expect(service.logText()).not.toContain(secret);
    }
    const lines = service.log.filter(({ route }) => String(route).startsWith('/console/')).slice(-3);
    expect(lines.map(({ client_id }) => client_id)).toEqual(Array(3).fill(client.client_id));
  });

  test('an unknown session is refused like an ended one, and two cookies are none', async () => {
    const cookie = `subreport-console=${'B'.repeat(43)}`;
    const send = (sent: string) => fetch(`${service.url}/console${report}`, { headers: { cookie: sent } });
    for (const each of [cookie, 'subreport-console=short', 'subreport-console='])
      await expectProblem(await send(each), 'SESSION_ENDED');
    await expectProblem(await send(`${cookie}; ${cookie}`), 'UNAUTHORISED');
  });
});

test('over https, the cookie has the prefix __Host- and is sent over TLS only', async () => {
  const service = await startService(await engines[0].openTestStore(), { PUBLIC_URL: 'https://reports.example.com' });
  const client = await service.createClient(await service.createTenant('acme'));
  const { signedIn, cookie, send } = await signIn(service.url, client);
  expect(signedIn.headers.get('set-cookie')).toMatch(
    /^__Host-subreport-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  );
  expect((await send('/session')).status).toBe(200);
  const planted = cookie.replace('__Host-', '');
  await expectProblem(
    await fetch(`${service.url}/console${report}`, { headers: { ...ownPage, cookie: planted } }),
    'UNAUTHORISED',
  );
  await service.close();
});

test('with CONSOLE=false, neither listener has sessions or the API below /console', async () => {
  const managementPort = String(await freePort());
  const service = await startService(await engines[0].openTestStore(), {
    CONSOLE: 'false',
    MANAGEMENT_PORT: managementPort,
  });
  const paths = ['/session', '/connect-api/v1/subscription', '/operator/v1/tenants', '/metrics', '/'];
  for (const url of [service.url, `http://127.0.0.1:${managementPort}`])
    for (const path of paths) await expectProblem(await fetch(`${url}/console${path}`), 'NOT_FOUND');
  expect((await signInWith(service.url, {})).signedIn.status).toBe(404);
  await service.close();
});

test.each(drawn)('with several workers on $engine, each of them knows a session and its end', async (engine) => {
  const service = await startWorkers(await engine.openTestStore());
  const client = await service.createClient(await service.createTenant('acme'));
  const { cookie } = await signIn(service.url, client);
  const statuses = async () => {
    const sent = Array.from({ length: 12 }, () => fetchOnce(`${service.url}/console${report}?size=1`, { cookie }));
    return [...new Set((await Promise.all(sent)).map(({ status }) => status))];
  };
  expect(await statuses()).toEqual([200]);
  await revokeTokens(service.store, now(), client.client_id);
  expect(await statuses()).toEqual([401]);
  const workers = () => service.log.filter(({ route }) => route === `/console${report}`).map(({ worker }) => worker);
  // a busy worker takes no connection, and logs a request after its response
  await eventually(async () => {
    await statuses();
    expect(new Set(workers()).size).toBe(2);
  });
  await service.close();
});
