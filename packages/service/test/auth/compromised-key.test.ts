import { afterEach, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { rotateKeys } from '../../../../test/support/key-ring.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import { createKeyCipher } from '../../auth/keys/key-cipher.ts';
import type { Store } from '../../storage/store.ts';

const drawn = drawOne(engines, import.meta.url);

const now = (): number => Math.floor(Date.now() / 1000);

describe.each(drawn)('subreport keys rotate --compromised on $engine', ({ engine, openTestStore }) => {
  let opened: TestStore;
  let service: TestService;
  const start = async (): Promise<TestClient> => {
    opened = await openTestStore();
    service = await startService(opened);
    return service.createClient(await service.createTenant('acme'));
  };
  const rotate = (store: Store) =>
    rotateKeys(
      {
        store,
        cipher: createKeyCipher(undefined, undefined),
        algorithm: 'ES256',
        lifetimes: { access: 300, refresh: 36_000 },
        now,
      },
      'access',
      'compromised',
    );
  const read = async (token: string): Promise<number> => {
    const response = await service.get('/v1/subscription', token);
    await response.arrayBuffer();
    return response.status;
  };
  afterEach(() => service.close());

  test('after rotate --compromised, a token accepted just before is rejected at the next request', async () => {
    const client = await start();
    for (let round = 0; round < 3; round += 1) {
      const token = await service.accessToken(client);
      expect(await read(token)).toBe(200);
      await rotate(service.store);
      expect([round, await read(token)]).toEqual([round, 401]);
    }
  });

  test('after rotate --compromised by another process, a token accepted just before is rejected', async () => {
    const client = await start();
    const elsewhere = opened.openAgain();
    const token = await service.accessToken(client);
    expect(await read(token)).toBe(200);
    await rotate(elsewhere);
    if (engine === 'sqlite') expect(await read(token)).toBe(401);
    // after the notification
    else await expect.poll(() => read(token)).toBe(401);
  });
});
