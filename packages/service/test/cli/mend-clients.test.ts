import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { services, type TestService } from '../../../../test/support/service.ts';
import type { TenantId } from '../../storage/store.ts';

/** Each engine once. The commands open their own store, as another process does. */
const chosen = engines.map((each) => ({ ...each, ...(each.engine === 'postgres' ? services[1] : services[0]) }));

describe.each(chosen)('administering clients on $engine with $service', ({ openTestStore, start }) => {
  let opened: TestStore;
  let service: TestService;
  let acme: TenantId;
  const run = (...args: string[]) => runHere(['client', ...args], opened.environment);
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout);
  };
  const statusOf = async (token: string) => (await service.get('/v1/subscription', token)).status;
  /**
   * Waits until every process responds to a token with this status: connections reach any of them.
   */
  const untilAllRespond = (token: string, status: number) =>
    expect
      .poll(() => Promise.all(Array.from({ length: 8 }, () => statusOf(token))))
      .toEqual(Array.from({ length: 8 }, () => status));
  const tokenStatus = async (credentials: { client_id: string; client_secret: string }) =>
    (await service.postToken({ grant_type: 'client_credentials', ...credentials })).status;

  beforeAll(async () => {
    opened = await openTestStore();
    service = await start(opened);
    acme = await service.createTenant('acme');
  });
  afterAll(() => service.close());

  test('a client that was disabled and enabled gets new tokens, and its old ones stay revoked', async () => {
    // whose tokens have no family
    const client = await service.createClient(acme, { clientId: 'back', grants: ['client_credentials'] });
    const old = await service.accessToken(client);
    await untilAllRespond(old, 200);
    await json('disable', '--client-id', 'back');
    await untilAllRespond(old, 401);
    const rotated = await run('rotate', '--client-id', 'back');
    expect(rotated.stdout).toContain(
      'The client is disabled: enable it with: subreport client enable --client-id back',
    );
    const { disabled, ...credentials } = await json('rotate', '--client-id', 'back');
    expect([disabled, await tokenStatus(credentials)]).toEqual([true, 401]);
    expect(await json('enable', '--client-id', 'back')).toEqual({ client_id: 'back', enabled: true });
    await expect.poll(() => tokenStatus(credentials)).toBe(200);
    await untilAllRespond(await service.accessToken(credentials), 200);
    await untilAllRespond(old, 401);
    expect((await run('enable', '--client-id', 'back')).stdout).toBe('The client back is enabled.\n');
  });

  test('changed grants and scopes of a client apply from its next request on', async () => {
    const client = await service.createClient(acme, { clientId: 'changing' });
    const token = await service.accessToken(client);
    await untilAllRespond(token, 200);
    const writing = await json('update', '--client-id', 'changing', '--scopes', 'subscription:write');
    expect(writing).toMatchObject({ scopes: ['subscription:write'], grants: ['client_credentials', 'refresh_token'] });
    await untilAllRespond(token, 403);
    const [narrow, wide] = [['subscription:read'], ['subscription:read', 'subscription:write']];
    await json('update', '--client-id', 'changing', '--scopes', wide.join(','), '--grants', 'client_credentials');
    await untilAllRespond(token, 200);
    const response = await service.postToken({ grant_type: 'client_credentials', ...client });
    expect(await response.json()).toMatchObject({ scope: wide.join(' ') });
    expect(await json('update', '--client-id', 'changing', '--scopes', narrow.join(','))).toMatchObject({
      client_id: 'changing',
      tenant: 'acme',
      external: false,
      grants: ['client_credentials'],
      scopes: narrow,
      disabled_at: null,
      secrets: [{ created_at: expect.any(String), expires_at: null }],
    });
    expect((await run('show', '--client-id', 'changing')).stdout).toMatch(/^grants +client_credentials$/m);
  });

  test('a client that becomes external has no secret and no token from here any more', async () => {
    const client = await service.createClient(acme, { clientId: 'moves-out' });
    const token = await service.accessToken(client);
    await untilAllRespond(token, 200);
    expect(await json('update', '--client-id', 'moves-out', '--external')).toMatchObject({
      external: true,
      secrets: [],
    });
    await untilAllRespond(token, 401);
    expect(await tokenStatus(client)).toBe(401);
    await json('update', '--client-id', 'moves-out', '--grants', 'client_credentials');
    expect(await tokenStatus(await json('rotate', '--client-id', 'moves-out'))).toBe(200);
  });

  test('a deleted client loses its secrets and tokens, and its id can be reused', async () => {
    const client = await service.createClient(acme, { clientId: 'leaves' });
    const token = await service.accessToken(client);
    await untilAllRespond(token, 200);
    expect(await json('delete', '--client-id', 'leaves')).toEqual({ client_id: 'leaves', deleted: true });
    const deletedAt = Math.floor(Date.now() / 1_000);
    await untilAllRespond(token, 401);
    expect(await tokenStatus(client)).toBe(401);
    for (const action of ['show', 'enable', 'delete', 'update']) {
      const more = action === 'update' ? ['--scopes', 'subscription:read'] : [];
      const { code, stderr } = await run(action, '--client-id', 'leaves', ...more);
      expect([action, code, stderr]).toEqual([action, 1, expect.stringMatching(/^Cannot find the client: [^\n]+\n$/)]);
    }
    // tokens have a resolution of one second
    await expect.poll(() => Math.floor(Date.now() / 1_000)).toBeGreaterThan(deletedAt);
    const next = await service.createClient(acme, { clientId: 'leaves' });
    expect(await tokenStatus(next)).toBe(200);
    await untilAllRespond(token, 401);
  });
});

test('client update without a change, or with contradicting ones, is wrong use', async () => {
  for (const args of [[], ['--external', '--grants', 'client_credentials'], ['--scopes', 'everything']]) {
    const { code } = await runHere(['client', 'update', '--client-id', 'c', ...args]);
    expect(code).toBe(2);
  }
});
