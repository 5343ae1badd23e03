import { SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Row } from '../../storage/store.ts';
import type { AuthContext } from '../auth-context.ts';
import { createResourceServer } from './resource-server.ts';
import type { TokenClaims } from './verify-token.ts';

const issuer = 'https://issuer.example';

/** A resource server whose store, keys and clock the test sets, and what it verified and read. */
function serverOf() {
  const given = { changeMark: 1 as number | undefined, keyMark: 0, now: 1_000, fails: false };
  const done = { verified: 0, read: 0 };
  const context = {
    store: {
      changeMark: () => given.changeMark,
      async readDirectory(): Promise<readonly Row[]> {
        done.read += 1;
        if (given.fails) throw new Error('away');
        return [clientRow];
      },
    },
    settings: { issuer: 'https://own.example' },
    now: () => given.now,
  } as unknown as AuthContext;
  const claims: TokenClaims = {
    clientId: 'acme',
    scopes: ['subscription:read'],
    issuedAt: 900,
    validUntil: 1_010,
    isOwn: false,
  };
  const verify = async () => {
    done.verified += 1;
    return claims;
  };
  const external = { issuer, verify, keyMark: () => given.keyMark, prepare: async () => undefined };
  const { authorize } = createResourceServer(context, external);
  return { given, done, ask: () => authorize(`Bearer ${token}`, 'subscription:read') };
}

const clientRow = {
  ...{ client_id: 'acme', tenant_id: 'acme', grants: '', scopes: 'subscription:read', created_at: 1, family: null },
  ...{ disabled_at: null, last_used_at: null, tokens_revoked_at: null, refresh_token_use: null, revoked_at: null },
};

let token: string;
beforeAll(async () => {
  const claims = new SignJWT({ iss: issuer }).setProtectedHeader({ alg: 'HS256' });
  token = await claims.sign(new Uint8Array(32));
});

describe('what is known of a token', () => {
  test('is used again while the store is unchanged', async () => {
    const { done, ask } = serverOf();
    for (let request = 0; request < 3; request += 1) expect(await ask()).toMatchObject({ clientId: 'acme' });
    expect(done).toEqual({ verified: 1, read: 1 });
  });

  test('is its claims alone once the store has changed, whose client all concurrent requests read once', async () => {
    const { given, done, ask } = serverOf();
    await ask();
    given.changeMark = 2;
    await Promise.all(Array.from({ length: 5 }, ask));
    expect(done).toEqual({ verified: 1, read: 2 });
  });

  test('is its claims alone while the change mark is unknown', async () => {
    const { given, done, ask } = serverOf();
    given.changeMark = undefined;
    for (let request = 0; request < 3; request += 1) await ask();
    expect(done).toEqual({ verified: 1, read: 3 });
  });

  test('is nothing once the keys of the issuer have changed', async () => {
    const { given, done, ask } = serverOf();
    await ask();
    given.keyMark = 1;
    await ask();
    expect(done).toEqual({ verified: 2, read: 2 });
  });

  test('is nothing once it has expired', async () => {
    const { given, done, ask } = serverOf();
    await ask();
    for (const [now, verified] of [
      [1_009, 1],
      [1_010, 2],
    ] as const) {
      given.now = now;
      await ask();
      expect(done.verified).toBe(verified);
    }
  });

  test('contains no failed read of its client', async () => {
    const { given, done, ask } = serverOf();
    given.fails = true;
    for (let request = 0; request < 2; request += 1) await expect(ask()).rejects.toThrow('away');
    given.fails = false;
    await ask();
    expect(done.read).toBe(3);
  });
});
