import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import type { TokenResponse } from '../../../contract/oauth/token.ts';
import type { AuthContext } from '../../auth/auth-context.ts';
import { createClient } from '../../auth/clients/manage-clients.ts';
import { AccessError } from '../../auth/error.ts';
import { createFailureBudget } from '../../auth/failure-budget.ts';
import { clientCredentialsGrant } from '../../auth/grants/client-credentials.ts';
import { refreshTokenGrant } from '../../auth/grants/refresh-token.ts';
import { introspectToken, revokeToken } from '../../auth/grants/token-management.ts';
import { createKeyCipher } from '../../auth/keys/key-cipher.ts';
import { openKeyRing } from '../../auth/keys/key-ring.ts';
import { createResourceServer } from '../../auth/verify/resource-server.ts';
import type { Store } from '../../storage/store.ts';
import { type ClientRow, findClient, recordClientUse } from '../../storage/tables/client.ts';
import { revokeClientTokens } from '../../storage/tables/client-changes.ts';
import { deleteDeadFamilies } from '../../storage/tables/refresh-family.ts';
import { findTenant, insertTenant } from '../../storage/tables/tenant.ts';

const drawn = drawOne(engines, import.meta.url);

const start = 1_800_000_000;
const ringOptions = (store: Store, now: () => number) => ({
  store,
  now,
  cipher: createKeyCipher(undefined, undefined),
  algorithm: 'ES256' as const,
  lifetimes: { access: 300, refresh: 36_000 },
});

describe.each(drawn)('tokens in the course of time on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let context: AuthContext;
  let client: ClientRow;
  let time = start;
  let clients = 0;
  const none = { scope: undefined, refreshToken: undefined };
  const issue = async () => (await clientCredentialsGrant.handle(context, client, none)).response;
  const refresh = async (token: TokenResponse) => {
    const parameters = { ...none, refreshToken: token.refresh_token };
    return (await refreshTokenGrant.handle(context, client, parameters)).response;
  };
  const refused = (attempt: Promise<unknown>) =>
    expect(attempt).rejects.toMatchObject({ name: 'TokenError', code: 'invalid_grant' });

  beforeAll(async () => {
    opened = await openTestStore();
    await insertTenant(opened.store, 'acme', start);
    const now = () => time;
    context = {
      store: opened.store,
      keys: await openKeyRing(ringOptions(opened.store, now)),
      now,
      failures: createFailureBudget(5),
      settings: {
        issuer: 'https://issuer.example',
        audience: 'https://issuer.example/connect-api',
        accessTokenSeconds: 300,
        refreshTokenSeconds: 1_800,
        refreshFamilySeconds: 36_000,
        refreshFamiliesMax: 100,
        refreshGraceSeconds: 10,
        sessionIdleSeconds: 1_800,
        sessionSeconds: 43_200,
        refreshTokenUse: 'rotate',
      },
    };
  });
  afterAll(() => opened.close());
  beforeEach(async () => {
    time = start;
    clients += 1;
    const tenant = (await findTenant(opened.store, 'acme'))?.tenant;
    if (tenant === undefined) throw new Error('no tenant');
    await createClient(opened.store, start, { tenant, clientId: `client-${clients}` });
    client = (await findClient(opened.store, `client-${clients}`)) as ClientRow;
  });

  test('33 (spec.md "Limits"): a refresh token is valid for 30 minutes, to the second', async () => {
    const token = await issue();
    const other = await issue();
    time = start + 1_799;
    await refresh(token);
    time = start + 1_800;
    await refused(refresh(other));
  });

  test('33 (RFC 9700 §4.14.2): each refresh extends the family by 30 minutes, up to its maximum age', async () => {
    let token = await issue();
    for (let step = 1; step <= 24; step += 1) {
      time = start + step * 1_400;
      token = await refresh(token);
    }
    expect(token.refresh_expires_in).toBe(1_800); // 33,600 of 36,000 seconds have passed
    time = start + 35_000;
    token = await refresh(token);
    expect(token.refresh_expires_in).toBe(1_000);
    time = start + 36_000;
    await refused(refresh(token));
  });

  test('32: the token just replaced returns the same successor within the grace, and revokes the family after it', async () => {
    const first = await issue();
    const second = await refresh(first);
    time = start + 9;
    expect((await refresh(first)).refresh_token).toBe(second.refresh_token);
    time = start + 10;
    await refused(refresh(first));
    await refused(refresh(second));
  });

  test('31: a replaced token revokes the family even within the grace once its successor was used', async () => {
    const first = await issue();
    const second = await refresh(first);
    const third = await refresh(second);
    await refused(refresh(first));
    await refused(refresh(third));
  });

  describe('REFRESH_TOKEN_USE=reuse', () => {
    const inUse = async (use: 'rotate' | 'reuse', work: () => Promise<void>) => {
      const original = context;
      context = { ...original, settings: { ...original.settings, refreshTokenUse: use } };
      await work().finally(() => {
        context = original;
      });
    };
    const introspect = async ({ refresh_token: text }: TokenResponse) => {
      const server = createResourceServer(context);
      return introspectToken(context, server, client, text);
    };

    test('with reuse, a used refresh token stays valid for its own 30 minutes and returns a new one each time', () =>
      inUse('reuse', async () => {
        const first = await issue();
        const seen = new Set([first.refresh_token]);
        time = start + 1_000;
        const second = await refresh(first);
        for (const seconds of [1_000, 1_200, 1_799]) {
          time = start + seconds;
          seen.add((await refresh(first)).refresh_token);
        }
        expect([seen.size, seen.has(second.refresh_token)]).toEqual([4, false]);
        expect(await introspect(first)).toMatchObject({ active: true, exp: start + 1_800 });
        time = start + 1_800;
        expect(await introspect(first)).toEqual({ active: false });
        await refused(refresh(first));
        time = start + 2_799;
        // the family is active
        expect((await refresh(second)).session_state).toBe(first.session_state);
        time = start + 2_800;
        await refused(refresh(second));
      }));

    test('with reuse, a family and all its refresh tokens expire at its maximum age, or at once when revoked', () =>
      inUse('reuse', async () => {
        const first = await issue();
        const second = await refresh(first);
        await revokeToken(context, createResourceServer(context), client, first.refresh_token);
        await refused(refresh(first));
        await refused(refresh(second));
        let token = await issue();
        for (let step = 1; step <= 24; step += 1) {
          time = start + step * 1_400;
          token = await refresh(token);
        }
        time = start + 35_999;
        await refused(refresh(token)); // 33,600 + 1,800
      }));

    test('a refresh token issued before the setting changed keeps its rule', async () => {
      const old = await issue();
      let newest = old;
      await inUse('reuse', async () => {
        newest = await refresh(old);
        time = start + 20; // past the grace
        await refused(refresh(old)); // it was issued to be used once
        await refresh(newest);
        newest = await refresh(newest);
      });
      const next = await refresh(newest);
      time = start + 40;
      await refused(refresh(newest)); // rotate again: reuse ends the family
      await refused(refresh(next));
    });
  });

  describe('at the API', () => {
    const authorizer = () => createResourceServer(context).authorize;
    const bearer = (token: string) => `Bearer ${token}`;
    const code = async (attempt: Promise<unknown>) =>
      attempt.then(() => 'accepted').catch((error: unknown) => (error instanceof AccessError ? error.code : error));

    test('51, 57, 60 (RFC 6750 §3.1, RFC 7519 §4.1.4): an access token is valid for 5 minutes, and cached results no longer', async () => {
      const authorize = authorizer();
      const { access_token: token } = await issue();
      expect(await code(authorize(bearer(token), 'subscription:read'))).toBe('accepted');
      time = start + 299;
      expect(await code(authorize(bearer(token), 'subscription:read'))).toBe('accepted');
      time = start + 300;
      expect(await code(authorize(bearer(token), 'subscription:read'))).toBe('INVALID_TOKEN');
      expect(await code(authorizer()(bearer(token), 'subscription:read'))).toBe('INVALID_TOKEN');
    });

    test('62: authorizing a token returns the client, its tenant and its rate limit', async () => {
      const { access_token: token } = await issue();
      expect(await authorizer()(bearer(token), 'subscription:read')).toEqual({
        clientId: client.clientId,
        tenant: 'acme',
        rateLimit: null,
      });
    });

    const revoke = async (token: TokenResponse) => {
      const { verifyToken } = createResourceServer(context);
      await revokeToken(context, { verifyToken }, client, token.refresh_token);
    };

    test('68: a token revoked 200 seconds ago is rejected by a server that starts now', async () => {
      const token = await issue();
      await revoke(token);
      time = start + 200;
      expect(await code(authorizer()(bearer(token.access_token), 'subscription:read'))).toBe('INVALID_TOKEN');
    });

    test('revoking all tokens of a client counts for good, and again within a minute', async () => {
      const authorize = authorizer();
      const issueAt = async (seconds: number) => {
        time = start + seconds;
        client = (await findClient(opened.store, client.clientId)) as ClientRow;
        const { access_token: token } = await issue();
        await recordClientUse(opened.store, client, time);
        return token;
      };
      const revokeAt = async (seconds: number) => {
        time = start + seconds;
        await revokeClientTokens(opened.store, client.clientId, time);
      };
      // a token without a family is only revoked by its client
      const clientId = `plain-${clients}`;
      await createClient(opened.store, start, { tenant: client.tenant, clientId, grants: ['client_credentials'] });
      client = (await findClient(opened.store, clientId)) as ClientRow;
      const first = await issueAt(0);
      await revokeAt(10);
      const second = await issueAt(20);
      await revokeAt(30);
      for (const seconds of [30, 91, 200]) {
        const latest = await issueAt(seconds);
        const codes = [first, second, latest].map((token) => code(authorize(bearer(token), 'subscription:read')));
        expect([seconds, ...(await Promise.all(codes))]).toEqual([
          ...[seconds, 'INVALID_TOKEN', 'INVALID_TOKEN', 'accepted'],
        ]);
      }
    });

    test('68: neither a lower ACCESS_TOKEN_SECONDS nor the sweep makes revoked tokens valid again', async () => {
      const [settings, original] = [{ ...context.settings, accessTokenSeconds: 86_400 }, context];
      context = { ...original, settings };
      const token = await issue();
      const kept = await issue();
      await revoke(token);
      context = { ...original, settings: { ...settings, accessTokenSeconds: 10 } };
      const codes = async () =>
        [token, kept].map((each) => code(authorizer()(bearer(each.access_token), 'subscription:read')));
      for (const seconds of [20, 3_600, 86_399]) {
        time = start + seconds;
        await deleteDeadFamilies(opened.store, time);
        expect([seconds, ...(await Promise.all(await codes()))]).toEqual([seconds, 'INVALID_TOKEN', 'accepted']);
      }
      context = original;
    });

    test.each([
      ['47', 'bearer lower', (token: string) => `bearer ${token}`, 'accepted'],
      ['49', 'nothing', () => undefined, 'MISSING_TOKEN'],
      ['50', 'two tokens', (token: string) => `Bearer ${token} ${token}`, 'MALFORMED'],
      ['51', 'not a JWT', () => 'Bearer abc', 'INVALID_TOKEN'],
      ['51', 'a changed signature', (token: string) => `Bearer ${token.slice(0, -6)}AAAAAA`, 'INVALID_TOKEN'],
    ])('%s (RFC 6750 §2.1, §3.1): %s', async (_item, _title, header, expected) => {
      const { access_token: token } = await issue();
      expect(await code(authorizer()(header(token), 'subscription:read'))).toBe(expected);
    });

    const [good, otherTime] = [
      {
        iss: 'https://issuer.example',
        aud: 'https://issuer.example/connect-api',
        scope: 'subscription:read',
        jti: 'j',
      },
      start + 60,
    ];
    test.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
      ['nothing wrong', {}, {}, 'accepted'],
      ['55 (RFC 9068 §4): typ JWT', { typ: 'JWT' }, {}, 'INVALID_TOKEN'],
      ['55 (RFC 9068 §4): no typ', { typ: undefined }, {}, 'INVALID_TOKEN'],
      ['55 (RFC 9068 §4): typ application/at+jwt', { typ: 'application/at+jwt' }, {}, 'accepted'],
      ['56 (RFC 8725 §3.8): another issuer', {}, { iss: 'https://issuer.example/' }, 'INVALID_TOKEN'],
      ['56 (RFC 8725 §3.9): another audience', {}, { aud: 'https://other.example' }, 'INVALID_TOKEN'],
      ['56 (RFC 8725 §3.9): us among the audiences', {}, { aud: ['https://other.example', good.aud] }, 'accepted'],
      ['56 (RFC 8725 §3.9): no audience', {}, { aud: undefined }, 'INVALID_TOKEN'],
      ['57 (RFC 7519 §4.1.4): no exp', {}, { exp: undefined }, 'INVALID_TOKEN'],
      ['57 (RFC 7519 §4.1.5): not yet', {}, { nbf: start + 100 }, 'INVALID_TOKEN'],
      ['58 (RFC 9068 §2.2): no client_id', {}, { client_id: undefined }, 'INVALID_TOKEN'],
      ['58 (RFC 9068 §2.2): a client_id that is no text', {}, { client_id: 7 }, 'INVALID_TOKEN'],
      ['58 (RFC 9068 §2.2): no jti', {}, { jti: undefined }, 'INVALID_TOKEN'],
      ['58 (RFC 9068 §2.2): no scope', {}, { scope: undefined }, 'INVALID_TOKEN'],
      ['52 (RFC 6750 §3.1): another scope', {}, { scope: 'subscription:write' }, 'INSUFFICIENT_SCOPE'],
      ['62: a client that is not ours', {}, { client_id: 'nobody' }, 'INVALID_TOKEN'],
      ['59 (RFC 7515 §4.1.11): an unknown crit', { crit: ['x'], x: 1 }, {}, 'INVALID_TOKEN'],
      ['59 (RFC 7515 §4.1.4): a kid that is not ours', { kid: 'other' }, {}, 'INVALID_TOKEN'],
    ])('%s', async (_title, header, claims, expected) => {
      const key = await context.keys.signingKey();
      const payload = {
        ...good,
        sub: client.clientId,
        client_id: client.clientId,
        iat: start,
        exp: otherTime,
        ...claims,
      };
      const defined = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
      const protectedHeader = { alg: 'ES256', kid: key.kid, typ: 'at+jwt', ...header } as { alg: string };
      const token = await new SignJWT(defined)
        .setProtectedHeader(protectedHeader)
        .sign(key.privateKey, { crit: { x: true } })
        .catch(() => '');
      expect(token).not.toBe('');
      expect(await code(authorizer()(bearer(token), 'subscription:read'))).toBe(expected);
    });

    test('54 (RFC 8725 §2.1, §3.1): alg none and HS256 keyed with our public key are rejected', async () => {
      const key = await context.keys.signingKey();
      const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
      const payload = { ...good, sub: client.clientId, client_id: client.clientId, iat: start, exp: otherTime };
      const unsigned = `${encode({ alg: 'none', typ: 'at+jwt', kid: key.kid })}.${encode(payload)}.`;
      const symmetric = await new SignJWT(payload)
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: key.kid })
        .sign(Buffer.from(JSON.stringify(key.publicJwk)));
      const authorize = authorizer();
      expect(await code(authorize(bearer(unsigned), 'subscription:read'))).toBe('INVALID_TOKEN');
      expect(await code(authorize(bearer(symmetric), 'subscription:read'))).toBe('INVALID_TOKEN');
    });
  });

  test('keys are created once by the first process, and later ones find them', async () => {
    const other = await openTestStore();
    const again = other.openAgain();
    const open = (store: Store) => openKeyRing(ringOptions(store, () => start));
    const rings = await Promise.all([other.store, again, other.store].map(open));
    const kids = await Promise.all(rings.map(async (ring) => (await ring.signingKey()).kid));
    const secrets = await Promise.all(rings.map(async (ring) => (await ring.refreshSecrets())[0].toString('hex')));
    expect([new Set(kids).size, new Set(secrets).size]).toEqual([1, 1]);
    await other.close();
  });
});

describe('the budget of failed attempts', () => {
  const [acme, globex] = ['acme', 'globex'];

  test('19: the budget is used up by the configured failures, and renewed after a minute of the monotonic clock', async () => {
    let timeMs = 0;
    const budget = createFailureBudget(2, () => timeMs);
    const attempt = { clientId: acme, address: '192.0.2.1' };
    await budget.count(attempt);
    expect(budget.secondsToWait(attempt)).toBe(0);
    timeMs = 10_000;
    await budget.count(attempt);
    expect(budget.secondsToWait(attempt)).toBe(50);
    expect(budget.secondsToWait({ ...attempt, address: '192.0.2.2' })).toBe(0);
    expect(budget.secondsToWait({ ...attempt, clientId: globex })).toBe(0);
    timeMs = 60_000;
    expect(budget.secondsToWait(attempt)).toBe(0);
  });

  test('19: all addresses of an IPv6 network of 64 bits share a budget', async () => {
    const budget = createFailureBudget(2, () => 0);
    for (const address of ['2001:db8::1', '2001:db8::2:0:0:1']) await budget.count({ clientId: acme, address });
    expect(budget.secondsToWait({ clientId: acme, address: '2001:DB8:0:0:ffff::9' })).toBe(60);
    expect(budget.secondsToWait({ clientId: acme, address: '2001:db8:0:1::1' })).toBe(0);
  });

  test('19: a network that spreads its guesses over many clients uses up its own budget', async () => {
    const budget = createFailureBudget(2, () => 0);
    for (let n = 0; n < 10; n += 1) await budget.count({ clientId: `client-${n}`, address: '192.0.2.1' });
    expect(budget.secondsToWait({ clientId: 'another', address: '192.0.2.1' })).toBe(60);
    expect(budget.secondsToWait({ clientId: 'another', address: '192.0.2.2' })).toBe(0);
  });

  test('19: a lock stays while 20,000 other attempts are counted and the locked client tries on', async () => {
    const budget = createFailureBudget(2, () => 0);
    const attempt = { clientId: acme, address: '192.0.2.1' };
    for (let n = 0; n < 2; n += 1) await budget.count(attempt);
    for (let n = 0; n < 20_000; n += 1) {
      if (n % 1_000 === 0) expect(budget.secondsToWait(attempt)).toBe(60);
      await budget.count({ clientId: `made-up-${n}`, address: '192.0.2.9' });
    }
    expect(budget.secondsToWait(attempt)).toBe(60);
  });
});
