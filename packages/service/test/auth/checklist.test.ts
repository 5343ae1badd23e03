import crypto from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { decodeJwt, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { expectTokenError } from '../../../../test/support/expect-error.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import type { TokenResponse } from '../../../contract/oauth/token.ts';
import { createKeyCipher } from '../../auth/keys/key-cipher.ts';
import { openKeyRing } from '../../auth/keys/key-ring.ts';
import { directoryStatement } from '../../storage/store.ts';

const drawn = drawOne(engines, import.meta.url);

/**
 * Lengths of the values compared in constant time; the service's modules use the counting function
 * too.
 */
const compared = { lengths: [] as number[] };
const { timingSafeEqual } = crypto;
beforeAll(() => {
  crypto.timingSafeEqual = (a, b) => {
    compared.lengths.push(a.byteLength);
    return timingSafeEqual(a, b);
  };
  syncBuiltinESMExports();
});
afterAll(() => {
  crypto.timingSafeEqual = timingSafeEqual;
  syncBuiltinESMExports();
});

const root = new URL('../../../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');

/** Numbers of the rules in packages/service/test/auth/token-checklist.md. */
const rules = [...read('packages/service/test/auth/token-checklist.md').matchAll(/^(\d+)\. /gm)].map(([, number]) =>
  Number(number),
);

/**
 * Numbers of rules that begin the titles of tests; test/spec numbers its titles by items of the
 * specification.
 */
const titled = globSync('{test,packages}/**/*.test.ts', { cwd: root.pathname })
  .filter((file) => !file.startsWith('test/spec/'))
  .flatMap((file) => [
    ...[...read(file).matchAll(/['"`](\d{1,2}(?:, \d{1,2})*)(?:: | \((?:RFC|docs|spec|strict|robust))/g)],
    ...read(file).matchAll(/^ *\['([1-9]\d?)', '/gm), // rows of a table of tests
  ])
  .flatMap(([, numbers = '']) => numbers.split(', ').map(Number));

test('packages/service/test/auth/token-checklist.md has the rules 1 to 70, in order', () => {
  expect(rules).toEqual(Array.from({ length: 70 }, (_, index) => index + 1));
});

test('every rule of packages/service/test/auth/token-checklist.md has a test, and every test that names a rule names one of them', () => {
  expect(rules.filter((rule) => !titled.includes(rule))).toEqual([]);
  expect(titled.filter((number) => !rules.includes(number))).toEqual([]);
});

describe.each(drawn)('items of the checklist that stand alone, on $engine', ({ openTestStore }) => {
  let service: TestService;
  let client: TestClient;
  const issue = async (given: TestClient = client) => {
    const response = await service.postToken({ grant_type: 'client_credentials', ...given });
    return (await response.json()) as TokenResponse;
  };

  beforeAll(async () => {
    service = await startService(await openTestStore());
    client = await service.createClient(await service.createTenant('acme'));
  });
  afterAll(() => service.close());

  test('17 (RFC 6749 §10.10): a secret is compared in constant time and equal lengths, also for unknown clients', async () => {
    const counts: number[][] = [];
    for (const form of [client, { ...client, client_secret: 'wrong' }, { ...client, client_id: 'nobody' }]) {
      compared.lengths = [];
      await service.postToken({ grant_type: 'client_credentials', ...form });
      counts.push(compared.lengths);
    }
    expect(counts).toEqual([[32], [32], [32]]);
  });

  test('23 (RFC 6749 §4.4): a client without a secret gets no token, whatever it sends', async () => {
    const own = await service.createClient(await service.createTenant('without-secret'));
    await service.store.writeDirectory([
      directoryStatement('delete from client_secret where client_id = $1', [own.client_id]),
    ]);
    for (const secret of [own.client_secret, '', 'x']) {
      const response = await service.postToken({ grant_type: 'client_credentials', ...own, client_secret: secret });
      await expectTokenError(response, 'invalid_client');
    }
  });

  test('41 (RFC 9207): the parameter iss belongs to authorization responses, and is not advertised', async () => {
    const metadata = await (await fetch(`${service.url}/.well-known/oauth-authorization-server`)).json();
    expect(metadata).not.toHaveProperty('authorization_response_iss_parameter_supported');
    expect(await issue()).not.toHaveProperty('iss');
  });

  test('45 (RFC 9068 §6): an access token contains no personal data', async () => {
    // token-endpoint.test.ts has the names of all claims
    expect(JSON.stringify(decodeJwt((await issue()).access_token))).not.toMatch(/acme|@/);
  });

  test('53 (RFC 6750 §3): each attribute of a challenge appears once, with allowed characters only', async () => {
    const narrow = await tokenWithScope('other:scope');
    const challenges: string[] = [];
    for (const authorization of [undefined, 'Basic YTpi', 'Bearer', 'Bearer a b', 'Bearer abc', `Bearer ${narrow}`]) {
      const headers = authorization === undefined ? {} : { authorization };
      const response = await fetch(`${service.baseUrl}/v1/subscription`, { headers });
      challenges.push(response.headers.get('www-authenticate') ?? '');
    }
    expect(challenges.at(-1)).toContain('error="insufficient_scope"');
    expect(challenges.at(-1)).toContain('scope="subscription:read"');
    for (const challenge of challenges) {
      const attribute = '[a-z_]+="[ -!#-\\[\\]-~]*"';
      expect(challenge).toMatch(new RegExp(`^Bearer ${attribute}(, ${attribute})*$`));
      const names = [...challenge.matchAll(/([a-z_]+)="/g)].map(([, name]) => name);
      expect([challenge, new Set(names).size]).toEqual([challenge, names.length]);
    }
  });

  test('63 (RFC 9111 §5.2.2): error responses are not cached, and reports only privately', async () => {
    const { access_token: token } = await issue();
    const cacheOf = async (authorization: string) => {
      const response = await fetch(`${service.baseUrl}/v1/subscription`, { headers: { authorization } });
      return [response.status, response.headers.get('cache-control')];
    };
    expect(await cacheOf('Bearer abc')).toEqual([401, 'no-store']);
    expect(await cacheOf(`Bearer ${await tokenWithScope('other:scope')}`)).toEqual([403, 'no-store']);
    expect(await cacheOf(`Bearer ${token}`)).toEqual([200, expect.stringMatching(/^private, no-(store|cache)$/)]);
  });

  /** A token signed with the key of the service, which no request could obtain. */
  async function tokenWithScope(scope: string): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const cipher = createKeyCipher(undefined, undefined);
    const lifetimes = { access: 300, refresh: 36_000 };
    const ring = await openKeyRing({ store: service.store, cipher, algorithm: 'ES256', lifetimes, now: () => now });
    const { kid, alg, privateKey } = await ring.signingKey();
    return new SignJWT({ client_id: client.client_id, scope })
      .setProtectedHeader({ alg, kid, typ: 'at+jwt' })
      .setIssuer(service.url)
      .setAudience(service.baseUrl)
      .setSubject(client.client_id)
      .setIssuedAt(now)
      .setExpirationTime(now + 60)
      .setJti('j')
      .sign(privateKey);
  }
});
