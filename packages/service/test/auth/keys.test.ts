import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createRemoteJWKSet, decodeProtectedHeader, exportJWK, generateKeyPair, jwtVerify } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, postgresUrl, type TestStore } from '../../../../test/support/engines.ts';
import { rotateKeys } from '../../../../test/support/key-ring.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { signingAlgorithms } from '../../../contract/oauth/grant.ts';
import type { TokenResponse } from '../../../contract/oauth/token.ts';
import type { KeyRingOptions } from '../../auth/keys/ensure-keys.ts';
import { createKeyCipher } from '../../auth/keys/key-cipher.ts';
import { openKeyRing } from '../../auth/keys/key-ring.ts';
import { listKeys } from '../../auth/keys/rotate-keys.ts';
import { openStore } from '../../storage/open-store.ts';
import type { Store } from '../../storage/store.ts';
import { listAuthKeys } from '../../storage/tables/auth-key.ts';
import { deleteAuthKeys, insertAuthKey } from '../../storage/tables/auth-key-changes.ts';

const drawn = drawOne(engines, import.meta.url);

const start = 1_800_000_000;
const secret = 'a secret of at least thirty-two characters';
const secretBefore = 'another secret that was used before, for long';

describe.each(drawn)('the keys of the service on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let time = start;
  const options = (more: Partial<KeyRingOptions> = {}): KeyRingOptions => ({
    store: opened.store,
    cipher: createKeyCipher(undefined, undefined),
    algorithm: 'ES256',
    lifetimes: { access: 300, refresh: 36_000 },
    now: () => time,
    ...more,
  });
  const states = async () =>
    (await listKeys(options())).filter(({ purpose }) => purpose === 'access').map(({ state }) => state);

  beforeEach(async () => {
    time = start;
    opened = await openTestStore();
  });
  afterEach(() => opened.close());

  test('rotation publishes the next key before its use, and the old one until its last token has expired', async () => {
    const ring = await openKeyRing(options());
    const first = await ring.signingKey();
    const next = await rotateKeys(options(), 'access', 'soon');
    expect(next.activatesAt).toBe(start + 360);
    const published = async () => (await ring.publicJwks()).map(({ kid }) => kid);
    const at = async (seconds: number) => {
      time = start + seconds;
      await expect.poll(published).toContain(next.kid);
      return [(await ring.signingKey()).kid, await published(), await states()];
    };
    expect(await at(0)).toEqual([first.kid, [next.kid, first.kid], ['next', 'current']]);
    expect(await at(359)).toEqual([first.kid, [next.kid, first.kid], ['next', 'current']]);
    expect(await at(360)).toEqual([next.kid, [next.kid, first.kid], ['current', 'retiring']]);
    expect(await at(719)).toEqual([next.kid, [next.kid, first.kid], ['current', 'retiring']]);
    expect(await at(720)).toEqual([next.kid, [next.kid], ['current', 'dead']]);
    expect(await ring.verifyingKey(first.kid)).toBeUndefined();
    await rotateKeys(options(), 'access', 'soon');
    expect((await listAuthKeys(opened.store, 'access')).map(({ kid }) => kid)).not.toContain(first.kid);
  });

  test('a second rotation is rejected while the next key is not active yet', async () => {
    await openKeyRing(options());
    await rotateKeys(options(), 'access', 'soon');
    await expect(rotateKeys(options(), 'access', 'soon')).rejects.toMatchObject({
      name: 'KeyError',
      message: expect.stringMatching(/becomes active in 360 seconds$/),
    });
    await rotateKeys(options(), 'refresh', 'soon');
  });

  test('keys are read again every 30 seconds, also if no change is noticed', async () => {
    const unnoticed = (target: Store, name: keyof Store): unknown => {
      const member: unknown = target[name];
      if (name === 'changeMark') return () => 1;
      return typeof member === 'function' ? member.bind(target) : member;
    };
    const store = new Proxy(opened.store, { get: (target, name) => unnoticed(target, name as keyof Store) });
    const ring = await openKeyRing(options({ store }));
    for (let rotation = 1; rotation <= 3; rotation += 1) {
      const { kid } = await rotateKeys(options(), 'access', 'compromised');
      time += 30;
      expect((await ring.signingKey()).kid).toBe(kid);
    }
  });

  test('two concurrent rotations create one key', async () => {
    await openKeyRing(options());
    const stores = [opened.store, opened.openAgain(), opened.openAgain()];
    const made = await Promise.allSettled(stores.map((store) => rotateKeys(options({ store }), 'access', 'now')));
    const kids = (await listAuthKeys(opened.store, 'access')).map(({ kid }) => kid);
    expect(kids).toHaveLength(1 + made.filter(({ status }) => status === 'fulfilled').length);
    expect(new Set(kids).size).toBe(kids.length);
  });

  test('a compromised key is removed at once, and the tokens that it signed are rejected', async () => {
    const ring = await openKeyRing(options());
    const [first, [refreshSecret]] = [await ring.signingKey(), await ring.refreshSecrets()];
    for (const purpose of ['access', 'refresh'] as const) await rotateKeys(options(), purpose, 'compromised');
    await expect.poll(() => ring.verifyingKey(first.kid)).toBeUndefined();
    expect(await ring.refreshSecrets()).not.toContainEqual(refreshSecret);
    expect(await ring.publicJwks()).toHaveLength(1);
  });

  test('a key of another algorithm is published first and used later, as in a rotation', async () => {
    const first = await (await openKeyRing(options())).signingKey();
    const ring = await openKeyRing(options({ algorithm: 'EdDSA' }));
    expect((await ring.signingKey()).kid).toBe(first.kid);
    await openKeyRing(options({ algorithm: 'EdDSA' })); // a second start makes no third key
    expect((await ring.publicJwks()).map(({ alg }) => alg)).toEqual(['EdDSA', 'ES256']);
    time = start + 360;
    expect((await ring.signingKey()).alg).toBe('EdDSA');
  });

  test('an RSA key of less than 3072 bits is replaced by a longer one, as in a rotation (11.2.3)', async () => {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true, modulusLength: 2_048 });
    const jwk = JSON.stringify(await exportJWK(privateKey));
    const place = { purpose: 'access', sequence: 1, kid: 'short', createdAt: start, activatesAt: start } as const;
    await insertAuthKey(opened.store, { ...place, alg: 'RS256', jwk });
    const ring = await openKeyRing(options({ algorithm: 'RS256' }));
    const bits = async () => (await ring.publicJwks()).map(({ n = '' }) => Buffer.from(n, 'base64url').length * 8);
    expect(await bits()).toEqual([3_072, 2_048]);
    await openKeyRing(options({ algorithm: 'RS256' })); // a second start makes no third key
    time = start + 720;
    expect(await bits()).toEqual([3_072]);
  });

  test('while the store is unavailable, the keys of the last read stay in use', async () => {
    const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '' } = opened.environment;
    const away = openStore({ databaseUrl, dataDir, poolSize: 1, onConnectionError: () => undefined });
    const ring = await openKeyRing(options({ store: away }));
    const { kid } = await ring.signingKey();
    await away.close();
    time = start + 60;
    // the first asks the store in vain, the second does not ask it so soon again
    for (let n = 1; n <= 2; n += 1) expect((await ring.signingKey()).kid).toBe(kid);
  });

  describe('KEY_ENCRYPTION_SECRET', () => {
    const textsOf = async (store: Store) =>
      (await Promise.all([listAuthKeys(store, 'access'), listAuthKeys(store, 'refresh')])).flat().map(({ jwk }) => jwk);

    test('KEY_ENCRYPTION_SECRET encrypts the keys and replaces unencrypted ones', async () => {
      const before = await openKeyRing(options());
      const [first, [firstSecret]] = [await before.signingKey(), await before.refreshSecrets()];
      const exposed = (await textsOf(opened.store)).map((text) => JSON.parse(text) as { d?: string; k?: string });
      expect(exposed).toHaveLength(2);
      const { name: fileBefore } = await filesOf(opened);
      const cipher = createKeyCipher(secret, undefined);
      const ring = await openKeyRing(options({ cipher }));
      expect((await ring.signingKey()).kid).not.toBe(first.kid);
      expect(await ring.verifyingKey(first.kid)).toBeUndefined();
      expect(await ring.refreshSecrets()).toEqual([expect.not.objectContaining(firstSecret)]);
      for (const text of await textsOf(opened.store)) expect(text).toMatch(/^eyJ[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);
      for (const key of await listKeys(options({ cipher }))) expect(key.encrypted).toBe(true);
      expect((await filesOf(opened)).name).not.toBe(fileBefore);
      const exposedInFiles = async (): Promise<boolean> => {
        const { text } = await filesOf(opened);
        return exposed.some(({ d, k }) => text.includes(d ?? k ?? ''));
      };
      // PostgreSQL keeps dead rows while any older snapshot is open, such as that of a connection
      // of another test that is being established
      await expect.poll(async () => (await exposedInFiles()) && opened.store.eraseRemovedKeys()).toBe(false);
      const again = await openKeyRing(options({ cipher }));
      expect((await again.signingKey()).kid).toBe((await ring.signingKey()).kid);
    });

    test('two processes that start encrypting at the same time agree on the new keys', async () => {
      await openKeyRing(options());
      const cipher = createKeyCipher(secret, undefined);
      const stores = [opened.store, opened.openAgain()];
      const rings = await Promise.all(stores.map((store) => openKeyRing(options({ store, cipher }))));
      const kids = await Promise.all(rings.map(async (ring) => (await ring.signingKey()).kid));
      expect(new Set(kids).size).toBe(1);
    });

    test.each([
      ['not set', undefined],
      ['another one', 'a wrong secret of at least thirty-two characters'],
    ])('that is %s stops the start with a sentence', async (_title, wrong) => {
      await openKeyRing(options({ cipher: createKeyCipher(secret, undefined) }));
      await expect(openKeyRing(options({ cipher: createKeyCipher(wrong, undefined) }))).rejects.toMatchObject({
        name: 'KeyError',
        message: expect.stringMatching(/^Cannot read the keys of the service: KEY_ENCRYPTION_SECRET must be/),
      });
    });

    test('KEY_ENCRYPTION_SECRET is replaced by means of KEY_ENCRYPTION_SECRET_BEFORE', async () => {
      const first = await (
        await openKeyRing(options({ cipher: createKeyCipher(secretBefore, undefined) }))
      ).signingKey();
      await openKeyRing(options({ cipher: createKeyCipher(secret, secretBefore) }));
      const ring = await openKeyRing(options({ cipher: createKeyCipher(secret, undefined) }));
      expect((await ring.signingKey()).kid).toBe(first.kid);
    });

    test('processes with either secret first use the same keys while KEY_ENCRYPTION_SECRET is replaced', async () => {
      await openKeyRing(options({ cipher: createKeyCipher(secretBefore, undefined) }));
      const old = await openKeyRing(options({ cipher: createKeyCipher(secretBefore, secret) }));
      const next = options({ cipher: createKeyCipher(secret, secretBefore), store: opened.openAgain() });
      const ring = await openKeyRing(next);
      const made = await rotateKeys(next, 'access', 'now');
      expect((await old.verifyingKey(made.kid))?.kid).toBe(made.kid);
      expect(await ring.refreshSecrets()).toEqual(await old.refreshSecrets(true));
    });

    test('keys of a backup from before KEY_ENCRYPTION_SECRET was replaced need the old secret', async () => {
      await openKeyRing(options({ cipher: createKeyCipher(secretBefore, undefined) }));
      const backup = await listAuthKeys(opened.store, 'access');
      await openKeyRing(options({ cipher: createKeyCipher(secret, secretBefore) }));
      await deleteAuthKeys(opened.store, backup);
      for (const key of backup) await insertAuthKey(opened.store, key);
      await expect(openKeyRing(options({ cipher: createKeyCipher(secret, undefined) }))).rejects.toThrow(
        'KEY_ENCRYPTION_SECRET_BEFORE',
      );
      const ring = await openKeyRing(options({ cipher: createKeyCipher(secret, secretBefore) }));
      expect((await ring.signingKey()).kid).toBe(backup[0]?.kid);
    });

    test('a key that was modified in the store is not used', async () => {
      const cipher = createKeyCipher(secret, undefined);
      const sealed = await cipher.seal('{"kty":"oct"}');
      const changed = `${sealed.slice(0, -4)}${sealed.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
      await expect(cipher.open(changed)).rejects.toMatchObject({ name: 'KeyError' });
    });
  });
});

/**
 * What the store's own files contain of keys: the folder of SQLite, the table's file of PostgreSQL.
 * The name is another one, or the time of the change, once the file was rewritten.
 */
async function filesOf({ environment }: TestStore): Promise<{ name: string; text: string }> {
  const { DATABASE_URL: url, DATA_DIR: folder = '' } = environment;
  if (url === undefined) {
    const files = readdirSync(folder).filter((file) => file.startsWith('subreport.db'));
    expect(files).toContain('subreport.db-wal');
    const { mtimeMs } = statSync(join(folder, 'subreport.db'));
    return { name: String(mtimeMs), text: files.map((file) => readFileSync(join(folder, file), 'latin1')).join('\n') };
  }
  const superuser = new URL(await postgresUrl());
  superuser.pathname = new URL(url).pathname;
  const client = await connectPostgres(superuser.href);
  await client.query('checkpoint');
  const { rows } = await client.query(
    "select path as name, pg_read_binary_file(path) as bytes from pg_relation_filepath('auth_key') as path",
  );
  await client.end();
  expect(rows[0].bytes.length).toBeGreaterThan(0);
  return { name: rows[0].name, text: rows[0].bytes.toString('latin1') };
}

describe('SIGNING_ALGORITHM', () => {
  const [sqlite] = engines;
  let service: TestService | undefined;
  afterEach(() => service?.close());

  test('discovery names the algorithms of the key set, also after a rotation to another one', async () => {
    service = await startService(await sqlite.openTestStore(), { SIGNING_ALGORITHM: 'ES256' });
    const { url, store } = service;
    const named = async (name: string) =>
      (
        (await (await fetch(`${url}/.well-known/${name}`)).json()) as {
          id_token_signing_alg_values_supported: string[];
        }
      ).id_token_signing_alg_values_supported;
    for (const algorithms of [['ES256'], ['EdDSA', 'ES256']]) {
      expect(await named('openid-configuration')).toEqual(algorithms);
      expect(await named('oauth-authorization-server')).toEqual(algorithms);
      await openKeyRing({
        store,
        cipher: createKeyCipher(undefined, undefined),
        algorithm: 'EdDSA',
        lifetimes: { access: 300, refresh: 36_000 },
        now: () => Math.floor(Date.now() / 1000),
      });
    }
  });

  test.each(signingAlgorithms)(
    '42, 46 (RFC 9068 §2.1, RFC 8725 §3.11): %s signs tokens that the key set verifies, and nothing else',
    async (algorithm) => {
      service = await startService(await sqlite.openTestStore(), { SIGNING_ALGORITHM: algorithm });
      const client = await service.createClient(await service.createTenant('acme'));
      const response = await service.postToken({ grant_type: 'client_credentials', ...client });
      const { access_token: token } = (await response.json()) as TokenResponse;
      expect(decodeProtectedHeader(token)).toEqual({ alg: algorithm, typ: 'at+jwt', kid: expect.any(String) });
      const keys = createRemoteJWKSet(new URL(`${service.url}/oauth2/jwks`));
      await jwtVerify(token, keys, { issuer: service.url, audience: service.baseUrl, typ: 'at+jwt' });
      expect((await service.get('/v1/subscription', token)).status).toBe(200);
      const { keys: published } = (await (await fetch(`${service.url}/oauth2/jwks`)).json()) as {
        keys: Record<string, string>[];
      };
      const members = { ES256: ['crv', 'x', 'y'], RS256: ['e', 'n'], PS256: ['e', 'n'], EdDSA: ['crv', 'x'] }[
        algorithm
      ];
      expect(published.map((key) => Object.keys(key).sort())).toEqual([
        [...members, 'alg', 'kid', 'kty', 'use'].sort(),
      ]);
    },
  );
});
