import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, openSqlite, type TestStore } from '../../../../test/support/engines.ts';
import { clock, startManagement, type TestManagement } from '../../../../test/support/management.ts';
import type { OperatorScope } from '../../../contract/oauth/grant.ts';
import { createOperator, revokeOperator } from '../../operator/operators.ts';
import { beginHistory } from '../../storage/tables/history.ts';
import { deleteEndedOperatorSessions } from '../../storage/tables/session.ts';

const drawn = drawOne(engines, import.meta.url);

const ownPage = { 'sec-fetch-site': 'same-origin' };
const tenants = '/console/operator/v1/tenants';

describe.each(drawn)("sessions of the operator's console on $engine", ({ openTestStore }) => {
  let opened: TestStore;
  let management: TestManagement;

  beforeAll(async () => {
    opened = await openTestStore();
    management = await startManagement(opened);
  });
  afterAll(() => management.close());

  /** Signs in with a token; `previous` is the cookie that the browser has. */
  const signIn = async (token: string, previous?: string) => {
    const headers = { ...ownPage, ...(previous !== undefined && { cookie: previous }) };
    const signedIn = await management.send('POST', '/console/session', { body: { token }, headers });
    const [cookie = ''] = String(signedIn.headers['set-cookie']).split(';');
    const send: TestManagement['send'] = (method, path, options = {}) =>
      management.send(method, path, { ...options, headers: { ...ownPage, cookie, ...options.headers } });
    return { signedIn, cookie, send };
  };
  const signInNew = async (...scopes: OperatorScope[]) => signIn(await management.operatorToken(...scopes));
  const statesOf = async ({ send }: { send: TestManagement['send'] }) => {
    const responses = [await send('GET', tenants), await send('GET', '/console/session')];
    return responses.map(({ status, body }) => [status, body.type, body.sign_in, body.detail]);
  };
  const ended = (detail: string) => {
    return [
      [401, 'SESSION_ENDED', ['secret'], expect.stringContaining(detail)],
      [200, undefined, ['secret'], undefined],
    ];
  };

  test('a sign-in returns the operator and the times, and a cookie that scripts and other sites cannot use', async () => {
    const { signedIn, send } = await signInNew('operator:read');
    expect([signedIn.status, signedIn.headers['cache-control'], signedIn.headers['set-cookie']]).toEqual([
      201,
      'no-store',
      expect.stringMatching(/^subreport-operator=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
    expect(signedIn.body).toEqual({
      operator: { id: expect.any(String), name: expect.stringMatching(/^test \d+$/), scopes: ['operator:read'] },
      public_url: 'http://127.0.0.1',
      idle_seconds: 1_800,
      expires_at: new Date((clock.seconds + 1_800) * 1000).toISOString().replace('.000', ''),
      ends_at: new Date((clock.seconds + 43_200) * 1000).toISOString().replace('.000', ''),
    });
    expect((await send('GET', '/console/session')).body).toEqual(signedIn.body);
  });

  test('a session acts as its operator within the scopes of the token, and the audit log names the operator', async () => {
    const reader = await signInNew('operator:read');
    expect((await reader.send('GET', tenants)).status).toBe(200);
    expect((await reader.send('POST', tenants, { body: { tenant: 'no' } })).status).toBe(403);
    const writer = await signInNew('operator:write', 'operator:read');
    expect((await writer.send('POST', tenants, { body: { tenant: 'acme' } })).status).toBe(201);
    const { body } = await writer.send('GET', '/console/operator/v1/audit?action=tenant.create');
    expect(body.data[0].actor).toMatchObject({
      kind: 'operator',
      id: writer.signedIn.body.operator.id,
      name: expect.stringMatching(/^test \d+$/),
    });
  });

  test('a stolen session alone creates no token: its own token is asked for again', async () => {
    const token = await management.operatorToken('operator:write');
    const other = await management.operatorToken('operator:write');
    const { signedIn, send } = await signIn(token);
    const operatorId = signedIn.body.operator.id;
    const create = (current_token?: string) =>
      send('POST', '/console/operator/v1/operators', {
        body: { name: 'x', scopes: ['operator:write'], current_token },
        address: '192.0.2.1', // the other tests have failed attempts of their own
      });
    const wrong = `sro_${'B'.repeat(43)}`;
    const attempts = [await create(), await create(other)];
    for (let n = 0; n < 4; n += 1) attempts.push(await create(wrong));
    expect(attempts.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 429]);
    expect(attempts[0]?.body).toMatchObject({
      type: 'ACCESS_DENIED',
      messages: [expect.stringContaining('current_token must be the token with which you signed in')],
    });
    expect(JSON.stringify(attempts)).not.toContain('sro_');
    expect((await create(token)).status).toBe(201);
    const entries = await opened.store.readDirectory(
      "select outcome, error from audit_entry where action = 'operator.create' and actor_id = $1 order by id",
      [operatorId],
    );
    const refused = { outcome: 'refused', error: 'FORBIDDEN' };
    expect(entries).toEqual([
      ...Array(5).fill(refused),
      { outcome: 'refused', error: 'TOO_MANY' },
      { outcome: 'ok', error: null },
    ]);
    for (const secret of [token, other, wrong]) expect(management.logText()).not.toContain(secret);
  });

  test('a session loads records into a tenant, if its token may', async () => {
    const { send } = await signInNew('operator:write', 'subscription:write');
    await send('POST', tenants, { body: { tenant: 'loaded' } });
    const path = `${tenants}/loaded/subscriptions`;
    const headers = { 'content-type': 'application/x-ndjson' };
    expect(await send('PUT', path, { headers, body: {} })).toMatchObject({ status: 200, body: { rejected: 1 } });
    const other = await signInNew('operator:write');
    expect((await other.send('PUT', path, { headers, body: {} })).status).toBe(403);
  });

  test('the state of the service needs a session', async () => {
    const { send } = await signInNew('operator:read');
    const path = '/console/operator/v1/health';
    expect((await send('GET', path)).body.detail).toContain('the first process must respond');
    expect((await management.send('GET', path)).status).toBe(401);
  });

  test('a cookie authorizes nothing outside of /console, and a token nothing below it', async () => {
    const token = await management.operatorToken('operator:read');
    const { send } = await signIn(token);
    expect((await send('GET', '/operator/v1/tenants')).status).toBe(401);
    expect((await management.send('GET', tenants, { token })).status).toBe(401);
    expect((await management.send('GET', '/operator/v1/tenants', { token })).status).toBe(200);
  });

  test('a token that is invalid or revoked gets a 401, and too many attempts get a 429', async () => {
    const { context } = management;
    const revoked = await createOperator(context, { name: 'to be revoked', scopes: ['operator:read'] });
    await revokeOperator(context, revoked.id);
    const attempts = [];
    for (const token of [revoked.token, `sro_${'A'.repeat(43)}`, 'x', 'y'])
      attempts.push((await signIn(token)).signedIn);
    expect(attempts.map(({ status }) => status)).toEqual([401, 401, 401, 429]);
    expect(attempts.map(({ headers }) => headers['set-cookie'])).toEqual(Array(4).fill(undefined));
    expect((await signInNew('operator:read')).signedIn.status).toBe(201);
  });

  test('revoking the token ends its sessions at the next request, and so does its expiry', async () => {
    const { context } = management;
    const kept = await signInNew('operator:read');
    const operator = await createOperator(context, { name: 'of a session', scopes: ['operator:read'] });
    const session = await signIn(operator.token);
    expect((await session.send('GET', tenants)).status).toBe(200);
    await revokeOperator({ ...context, store: opened.openAgain() }, operator.id);
    expect(await statesOf(session)).toEqual(ended('signed out or revoked'));
    expect((await kept.send('GET', tenants)).status).toBe(200);
    const short = await createOperator(context, { name: 'y', scopes: ['operator:read'], expiresDays: 1 });
    clock.seconds += 86_399;
    const last = await signIn(short.token);
    expect((await last.send('GET', tenants)).status).toBe(200);
    clock.seconds += 1;
    expect(await statesOf(last)).toEqual(ended('signed out or revoked'));
  });

  test('a restore ends every session', async () => {
    const session = await signInNew('operator:read');
    await beginHistory(opened.store, clock.seconds);
    expect(await statesOf(session)).toEqual(ended('it has ended'));
  });

  test('a session that is not used for 30 minutes ends, and requests in the background do not use it', async () => {
    const used = await signInNew('operator:read');
    const watched = await signInNew('operator:read');
    clock.seconds += 1_740;
    expect((await used.send('GET', tenants)).status).toBe(200);
    expect((await watched.send('GET', tenants, { headers: { 'x-background': '1' } })).status).toBe(200);
    clock.seconds += 60;
    expect(await statesOf(watched)).toEqual(ended('not used'));
    expect((await used.send('GET', tenants)).status).toBe(200);
    clock.seconds += 1_800;
    expect(await statesOf(used)).toEqual(ended('not used'));
  });

  test('signing out ends the session at once, and signing in again ends the one of the same browser', async () => {
    const token = await management.operatorToken('operator:read');
    const first = await signIn(token);
    const second = await signIn(token, first.cookie);
    expect(second.cookie).not.toBe(first.cookie);
    expect(await statesOf(first)).toEqual(ended('it has ended'));
    const out = await second.send('DELETE', '/console/session');
    expect([out.status, out.headers['set-cookie']]).toEqual([
      204,
      'subreport-operator=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict',
    ]);
    expect(await statesOf(second)).toEqual(ended('it has ended'));
    expect((await second.send('DELETE', '/console/session')).status).toBe(204);
  });

  test.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another origin in an old browser', { origin: 'https://evil.example' }],
  ] as [string, Record<string, string>][])(
    'a sign-in and an action by a page %s are rejected',
    async (_name, headers) => {
      const token = await management.operatorToken('operator:write');
      const { cookie } = await signIn(token);
      const signedIn = await management.send('POST', '/console/session', { body: { token }, headers });
      const acted = await management.send('POST', tenants, {
        body: { tenant: 'forged' },
        headers: { ...headers, cookie },
      });
      expect([signedIn.status, acted.status]).toEqual([403, 403]);
    },
  );

  test('sign-ins, refusals and sign-outs are counted in the audit log', async () => {
    const session = await signInNew('operator:read');
    await session.send('DELETE', '/console/session');
    await management.tally.flush();
    const rows = await opened.store.readDirectory(
      "select action, outcome, actor_kind from audit_entry where action like 'console.%' order by action, outcome, actor_kind",
    );
    const distinct = new Set(rows.map(({ action, outcome, actor_kind }) => `${action} ${outcome} ${actor_kind}`));
    expect([...distinct]).toEqual([
      'console.sign-in ok operator',
      'console.sign-in refused anonymous',
      'console.sign-out ok operator',
    ]);
  });

  test('the store and the log have neither the token nor the id of a session, and ended ones are swept', async () => {
    const token = await management.operatorToken('operator:read');
    const { cookie, send } = await signIn(token);
    await send('GET', tenants);
    const rows = () => opened.store.readDirectory('select * from operator_session');
    const stored = JSON.stringify(await rows());
    for (const secret of [token, cookie.split('=')[1] ?? '']) {
      expect(secret.length).toBeGreaterThan(40);
      expect(stored).not.toContain(secret);
      expect(management.logText()).not.toContain(secret);
    }
    await deleteEndedOperatorSessions(opened.store, clock.seconds + 1_800 + 86_400);
    expect((await send('GET', tenants)).status).toBe(200);
    await deleteEndedOperatorSessions(opened.store, clock.seconds + 1_801 + 86_400);
    expect(await rows()).toEqual([]);
  });
});

test('behind a proxy with TLS, the cookie of an operator is sent over TLS alone and its pages have the public origin', async () => {
  const management = await startManagement(await openSqlite(), { managementUrl: 'https://admin.example.com' });
  try {
    const token = await management.operatorToken('operator:read');
    const signIn = (origin: string) =>
      management.send('POST', '/console/session', {
        body: { token },
        headers: { host: 'admin.example.com', 'x-forwarded-proto': 'https', origin },
      });
    const { status, headers } = await signIn('https://admin.example.com');
    expect([status, headers['set-cookie']]).toEqual([
      201,
      expect.stringMatching(/^__Host-subreport-operator=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/),
    ]);
    expect(headers['strict-transport-security']).toContain('max-age=');
    expect((await signIn('http://admin.example.com')).status).toBe(403);
  } finally {
    await management.close();
  }
});
