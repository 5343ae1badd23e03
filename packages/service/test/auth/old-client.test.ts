import { afterEach, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { OldClient, type OldClientOptions } from '../../../../test/support/old-client.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import type { RefreshTokenUse } from '../../../contract/oauth/grant.ts';

const drawn = drawOne(engines, import.meta.url);

const minuteMs = 60_000;

describe.each(drawn)('a client written for the published v1, on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let service: TestService;
  /**
   * Returns its counts after this many calls, one minute of its clock apart; for the service,
   * seconds pass.
   */
  const walk = async (client: TestClient, keeps: OldClientOptions['keeps'], calls: number) => {
    let nowMs = 0;
    const old = new OldClient({
      tokenUrl: `${service.url}/oauth2/token`,
      reportUrl: `${service.baseUrl}/v1/subscription?size=1`,
      clientId: client.client_id,
      clientSecret: client.client_secret,
      keeps,
      accessMs: 5 * minuteMs,
      refreshMs: 30 * minuteMs,
      nowMs: () => nowMs,
    });
    for (let call = 0; call < calls; call += 1) {
      await old.call();
      nowMs += minuteMs;
    }
    return old.counts;
  };
  const start = async (environment: Record<string, string>) => {
    opened = await openTestStore();
    service = await startService(opened, { REFRESH_GRACE_SECONDS: '0', ...environment });
    return service.createTenant('acme');
  };
  const create = async (use: RefreshTokenUse): Promise<TestClient> => {
    const args = ['client', 'create', '--tenant', 'acme', '--refresh-token-use', use, '--json'];
    return JSON.parse((await runHere(args, opened.environment)).stdout);
  };
  afterEach(() => service.close());

  test.each(['first', 'newest'] as const)(
    'keeps its %s refresh token for 50 minutes without a refused refresh where REFRESH_TOKEN_USE=reuse',
    async (keeps) => {
      const client = await clientOf(start({ REFRESH_TOKEN_USE: 'reuse' }));
      const counts = await walk(client, keeps, 50);
      expect(counts).toMatchObject({ calls: 50, failedCalls: 0, refusedRefreshes: 0 });
      // its first token expires after 30 minutes
      expect(counts.tokenRequests).toBe(keeps === 'first' ? 2 : 1);
      expect(counts.refreshes).toBeGreaterThan(9);
    },
  );

  test('is refused at its second refresh where the default is in force and it keeps its first token', async () => {
    const client = await clientOf(start({}));
    expect(await walk(client, 'newest', 20)).toMatchObject({ failedCalls: 0, refusedRefreshes: 0, tokenRequests: 1 });
    const counts = await walk(client, 'first', 20);
    expect(counts).toMatchObject({ calls: 20, failedCalls: 0 }); // new tokens by its credentials
    expect([counts.refreshes, counts.refusedRefreshes, counts.tokenRequests]).toEqual([4, 2, 3]);
  });

  test('has a refresh token use of its own by client create --refresh-token-use, whatever the setting says', async () => {
    await start({ REFRESH_TOKEN_USE: 'reuse' });
    expect((await walk(await create('rotate'), 'first', 20)).refusedRefreshes).toBe(2);
    await service.close();
    await start({});
    const reusing = await create('reuse');
    expect((await walk(reusing, 'first', 20)).refusedRefreshes).toBe(0);
    const update = ['client', 'update', '--client-id', reusing.client_id, '--refresh-token-use', 'default', '--json'];
    const { stdout } = await runHere(update, opened.environment);
    expect(JSON.parse(stdout)).toMatchObject({
      refresh_token_use: null,
      grants: ['client_credentials', 'refresh_token'],
    });
    expect((await walk(reusing, 'first', 20)).refusedRefreshes).toBe(2);
  });

  async function clientOf(tenant: ReturnType<typeof start>): Promise<TestClient> {
    const owner = await tenant; // starts the service
    return service.createClient(owner);
  }
});
