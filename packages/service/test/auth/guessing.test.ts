import { argon2Sync, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { expectTokenError } from '../../../../test/support/expect-error.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import type { TokenResponse } from '../../../contract/oauth/token.ts';
import type { AuthContext } from '../../auth/auth-context.ts';
import { authenticateClient } from '../../auth/clients/authenticate-client.ts';
import { readConfig } from '../../cli/config.ts';
import { createCounters } from '../../cli/serving/counters.ts';
import { fixedLimits } from '../../cli/settings/fixed-limits.ts';
import { directoryStatement, type TenantId } from '../../storage/store.ts';

const drawn = drawOne(engines, import.meta.url);

const grant = { grant_type: 'client_credentials' };
const failuresMax = 5;

describe.each(drawn)('guessing at the token endpoint on $engine', ({ openTestStore }) => {
  let service: TestService;
  let tenant: TenantId;
  beforeAll(async () => {
    const fixed = { tokenFailuresPerMinute: failuresMax };
    service = await startService(await openTestStore(), { TRUSTED_PROXIES: '127.0.0.1' }, fixed);
    tenant = await service.createTenant('acme');
  });
  afterAll(() => service.close());

  const newClient = (secret?: string) => service.createClient(tenant, secret === undefined ? {} : { secret });
  const tokenOf = (client: TestClient) => service.postToken({ ...grant, ...client });
  const guessAt = (client: TestClient) => tokenOf({ ...client, client_secret: 'guess' });
  const basic = (client: TestClient) => ({
    authorization: `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}`,
  });
  const hashOf = async ({ client_id }: TestClient) =>
    (await service.store.readDirectory('select hash from client_secret where client_id = $1', [client_id]))[0]?.hash;

  test('a valid generated secret is accepted after any number of wrong ones, at every OAuth endpoint', async () => {
    const client = await newClient();
    const token = (await (await tokenOf(client)).json()) as TokenResponse;
    for (let n = 0; n < 2 * failuresMax; n += 1) await expectTokenError(await guessAt(client), 'invalid_client');
    expect((await tokenOf(client)).status).toBe(200);
    const refresh = { grant_type: 'refresh_token', refresh_token: token.refresh_token ?? '' };
    expect((await service.postToken({ ...refresh, ...client })).status).toBe(200);
    const body = new URLSearchParams({ token: token.access_token, ...client });
    expect((await fetch(`${service.url}/oauth2/revoke`, { method: 'POST', body })).status).toBe(200);
  });

  test('guesses that find the queue full count as failed, and are no failures of the service', async () => {
    const guessed = await newClient('correct horse battery');
    // from several networks, because the requests of one take turns
    const from = (n: number) => ({ 'x-forwarded-for': `10.0.${n % 4}.1` });
    const form = { ...grant, ...guessed };
    const guess = { ...form, client_secret: 'guess' };
    const guesses = await Promise.all(Array.from({ length: 40 }, (_, n) => service.postToken(guess, from(n))));
    expect(guesses.map(({ status }) => status)).toEqual(expect.arrayContaining([401, 503, 429]));
    await expectTokenError(await service.postToken(form, from(0)), 'slow_down');
    expect(service.log.filter(({ msg }) => msg === 'token request failed')).toEqual([]);
  });

  test.each(['100%', 'a+b&c%zz and more', '%41bcdefghijklmnop', 'plain-and-simple-one'])(
    'HTTP Basic accepts the secret %s as curl sends it, and percent-encoded',
    async (beginning) => {
      const own = await startService(await openTestStore());
      const secret = beginning.padEnd(24, '-x7Qrw');
      const client = await own.createClient(await own.createTenant('acme'), { secret, clientId: 'a%2Bb+c' });
      const encoded = { client_id: encodeURIComponent('a%2Bb+c'), client_secret: encodeURIComponent(secret) };
      expect((await own.postToken(grant, basic(client))).status).toBe(200);
      expect((await own.postToken(grant, basic(encoded))).status).toBe(200);
      expect((await own.postToken({ ...grant, client_id: client.client_id }, basic(client))).status).toBe(200);
      const wrong = { ...client, client_secret: `${secret}%` };
      await expectTokenError(await own.postToken(grant, basic(wrong)), 'invalid_client');
      await own.close();
    },
  );

  test('a hash with fewer KiB is upgraded when its secret is used (A 11.4.4)', async () => {
    const own = await startService(await openTestStore());
    const secret = 'correct horse battery';
    const client = await own.createClient(await own.createTenant('acme'), { secret });
    const salt = randomBytes(16);
    const tag = argon2Sync('argon2id', {
      message: secret,
      nonce: salt,
      parallelism: 1,
      tagLength: 32,
      memory: 9_216,
      passes: 2,
    });
    const { client_id } = client;
    const hash = `$argon2id$v=19$m=9216,t=2,p=1$${plain(salt)}$${plain(tag)}`;
    await own.store.writeDirectory([
      directoryStatement('update client_secret set hash = $2 where client_id = $1', [client_id, hash]),
    ]);
    const send = (client_secret: string) => own.postToken({ ...grant, client_id, client_secret });
    await expectTokenError(await send('wrong'), 'invalid_client');
    expect((await send(secret)).status).toBe(200);
    const [row] = await own.store.readDirectory('select hash from client_secret where client_id = $1', [client_id]);
    expect(row?.hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect((await send(secret)).status).toBe(200);
    await own.close();
  });

  test('an up-to-date hash is not rewritten when its secret is used again (A 11.4.4)', async () => {
    const own = await newClient('staple battery horse');
    const before = await hashOf(own);
    await tokenOf(own);
    expect(await hashOf(own)).toBe(before);
  });
});

const plain = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');

test.each([
  { client_id: 'x'.repeat(256), client_secret: 'x' },
  { client_id: 'x', client_secret: 'x'.repeat(513) },
])('an id of over 255 characters or a secret of over 512 is refused before the store is asked', async (client) => {
  const context = {} as AuthContext; // without a store
  const sent = {
    clientId: client.client_id,
    clientSecret: client.client_secret,
    authorization: undefined,
    address: '',
  };
  await expect(authenticateClient(context, sent)).rejects.toMatchObject({ code: 'invalid_client' });
  await expect(authenticateClient(context, { ...sent, clientId: 'x', clientSecret: 'x' })).rejects.toThrow(TypeError);
});

test('setting the clock back by two hours lengthens neither a lock nor a rate-limit window', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000_000_000 });
  try {
    const { failures, requests } = createCounters(readConfig({}));
    const attempt = { clientId: 'acme', address: '192.0.2.1' };
    for (let n = 0; n < fixedLimits.tokenFailuresPerMinute; n += 1) await failures.count(attempt);
    expect(await failures.secondsToWait(attempt)).toBeGreaterThan(0);
    await requests.add('acme', 10);
    vi.setSystemTime(1_000_000_000_000 - 7_200_000);
    expect(await failures.secondsToWait(attempt)).toBeLessThanOrEqual(60);
    expect((await requests.add('acme', 10)).msLeft).toBeLessThanOrEqual(60_000);
  } finally {
    vi.useRealTimers();
  }
});
