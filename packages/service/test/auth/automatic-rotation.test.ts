import { decodeProtectedHeader } from 'jose';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { rotateDue } from '../../../../test/support/key-ring.ts';
import { startService } from '../../../../test/support/service.ts';
import type { TokenResponse } from '../../../contract/oauth/token.ts';
import type { KeyRingOptions } from '../../auth/keys/ensure-keys.ts';
import { createKeyCipher } from '../../auth/keys/key-cipher.ts';
import { openKeyRing } from '../../auth/keys/key-ring.ts';
import { listKeys } from '../../auth/keys/rotate-keys.ts';
import { rotateRegularly } from '../../cli/serving/rotate-regularly.ts';
import { listAuthKeys } from '../../storage/tables/auth-key.ts';

const drawn = drawOne(engines, import.meta.url);

const start = 1_800_000_000;
const day = 86_400;

describe.each(drawn)('KEY_ROTATION_DAYS on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let time = start;
  const options = (more: Partial<KeyRingOptions> = {}): KeyRingOptions => ({
    store: opened.store,
    cipher: createKeyCipher(undefined, undefined),
    algorithm: 'ES256',
    lifetimes: { access: 300, refresh: 36_000 },
    rotationDays: 90,
    now: () => time,
    ...more,
  });
  const sequences = async () => (await listAuthKeys(opened.store, 'access')).map(({ sequence }) => sequence);

  beforeAll(async () => {
    opened = await openTestStore();
    await openKeyRing(options());
  });
  afterAll(() => opened.close());

  test('a key is rotated once after 90 days, however many processes find it due', async () => {
    time = start + 90 * day - 1;
    expect(await rotateDue(options())).toEqual([]);
    time = start + 90 * day;
    expect(await rotateDue(options({ rotationDays: 0 }))).toEqual([]);
    const stores = [opened.store, opened.openAgain(), opened.openAgain()];
    const made = (await Promise.all(stores.map((store) => rotateDue(options({ store }))))).flat();
    expect(made.map(({ purpose }) => purpose).toSorted()).toEqual(['access', 'refresh']);
    expect(await rotateDue(options())).toEqual([]);
    expect((await listKeys(options())).map(({ state, activatesAt }) => [state, activatesAt - time])).toEqual([
      ['next', 360],
      ['current', -90 * day],
      ['next', 360],
      ['current', -90 * day],
    ]);
  });

  test('a clock that is ahead for a moment delays no rotation and removes no key that is in use', async () => {
    const before = await sequences();
    time += 400 * day;
    await rotateDue(options());
    time -= 400 * day - 3_600;
    expect(await sequences()).toEqual([3, ...before]);
    expect(await rotateDue(options())).toEqual([]);
    time += 90 * day;
    await rotateDue(options());
    time += 360; // the new key takes over, not the one that the wrong clock made
    const states = (await listKeys(options())).filter(({ purpose }) => purpose === 'access').map(({ state }) => state);
    expect(states.slice(0, 3)).toEqual(['current', 'retiring', 'retiring']);
  });

  test('a clock that is set back rotates nothing', async () => {
    const before = await sequences();
    for (const back of [7_200, 400 * day]) {
      time -= back;
      expect(await rotateDue(options())).toEqual([]);
      time += back;
    }
    expect(await sequences()).toEqual(before);
  });
});

describe('a running client', () => {
  afterEach(() => vi.useRealTimers());

  test('reads the report without one rejected token while the service rotates its keys', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: start * 1000 });
    const [{ openTestStore }] = engines;
    const service = await startService(await openTestStore(), { ACCESS_TOKEN_SECONDS: '300' });
    const client = await service.createClient(await service.createTenant('acme'));
    const keys: KeyRingOptions = {
      store: service.store,
      cipher: createKeyCipher(undefined, undefined),
      algorithm: 'ES256',
      lifetimes: { access: 300, refresh: 36_000 },
      rotationDays: 1,
      now: () => Math.floor(Date.now() / 1000),
    };
    const requestToken = async (form: Record<string, string>): Promise<TokenResponse> => {
      const response = await service.postToken({ ...form, ...client });
      expect(response.status).toBe(200);
      return (await response.json()) as TokenResponse;
    };
    const used = new Set<string>();
    // the minutes before, during and after the rotation of the first day
    vi.setSystemTime((start + day - 600) * 1000);
    let token = await requestToken({ grant_type: 'client_credentials' });
    for (let second = -600; second <= 1_500; second += 60) {
      vi.setSystemTime((start + day + second) * 1000);
      if (second === 0) rotateRegularly(keys, pino({ enabled: false }));
      const isOld = second % 240 === 0;
      if (isOld) token = await requestToken({ grant_type: 'refresh_token', refresh_token: token.refresh_token ?? '' });
      used.add(decodeProtectedHeader(token.access_token).kid ?? '');
      const response = await service.get('/v1/subscription', token.access_token);
      await response.arrayBuffer();
      expect(response.status).toBe(200);
    }
    expect(used.size).toBe(2);
    const entries = await service.store.readDirectory(
      "select action, details from audit_entry where actor_kind = 'service' order by id",
      [],
    );
    expect(entries.map(({ details }) => JSON.parse(String(details)))).toEqual([
      { purpose: 'access', mode: 'soon', kid: expect.any(String) },
      { purpose: 'refresh', mode: 'soon', kid: expect.any(String) },
    ]);
    await service.close();
  });
});
