import { afterEach, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, pooledPostgres, type TestStore } from '../../../../test/support/engines.ts';
import { expectTokenError } from '../../../../test/support/expect-error.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import type { TokenResponse } from '../../../contract/oauth/token.ts';
import type { FixedLimits } from '../../cli/settings/fixed-limits.ts';
import { directoryStatement } from '../../storage/store.ts';

const drawn = drawOne([...engines, pooledPostgres], import.meta.url);

type Issued = TokenResponse & { readonly refresh_token: string };

describe.each(drawn)('revocation always revokes, on $engine', ({ engine, openTestStore }) => {
  let opened: TestStore;
  let service: TestService;
  const start = async (environment: Record<string, string> = {}, fixed: Partial<FixedLimits> = {}) => {
    opened = await openTestStore();
    service = await startService(opened, environment, fixed);
    return service.createTenant('acme');
  };
  const issue = async (client: TestClient): Promise<Issued> =>
    (await (await service.postToken({ grant_type: 'client_credentials', ...client })).json()) as Issued;
  const refresh = (client: TestClient, token: string, more: Record<string, string> = {}) =>
    service.postToken({ grant_type: 'refresh_token', refresh_token: token, ...client, ...more });
  const revoke = (client: TestClient, token: string) =>
    fetch(`${service.url}/oauth2/revoke`, { method: 'POST', body: new URLSearchParams({ token, ...client }) });
  const read = async ({ access_token: token }: TokenResponse): Promise<number> => {
    const response = await service.get('/v1/subscription', token);
    await response.arrayBuffer();
    return response.status;
  };
  /**
   * Waits until a change by another process is visible: at once on SQLite, after the notification
   * on PostgreSQL.
   */
  const soon = async (token: TokenResponse, status: number) => {
    if (engine === 'sqlite') expect(await read(token)).toBe(status);
    else await expect.poll(() => read(token)).toBe(status);
  };
  const run = (...args: string[]) => runHere(args, opened.environment);
  afterEach(() => service.close());

  test('a family that was dropped for newer ones can still be revoked by either of its tokens', async () => {
    const client = await clientOf(start({}, { refreshFamiliesMax: 2 }));
    const issued: Issued[] = [];
    for (let n = 0; n < 6; n += 1) issued.push(await issue(client));
    const last = issued.pop() as Issued; // of the five before, one at most can still be refreshed
    for (const [index, each] of issued.entries())
      expect((await revoke(client, index % 2 === 0 ? each.refresh_token : each.access_token)).status).toBe(200);
    expect(await Promise.all([...issued, last].map(read))).toEqual([401, 401, 401, 401, 401, 200]);
    expect((await refresh(client, last.refresh_token)).status).toBe(200);
  });

  test('client rotate --revoke-tokens revokes tokens without a refresh token and those of dropped families', async () => {
    const tenant = await start({}, { refreshFamiliesMax: 2 });
    const plain = await service.createClient(tenant, { grants: ['client_credentials'] });
    const refreshing = await service.createClient(tenant);
    const before = await issue(plain);
    const families: Issued[] = [];
    for (let n = 0; n < 6; n += 1) families.push(await issue(refreshing));
    expect(await Promise.all([before, ...families].map(read))).toEqual(Array(7).fill(200));
    for (const { client_id: id } of [plain, refreshing])
      expect(await run('client', 'rotate', '--client-id', id, '--revoke-tokens')).toMatchObject({ code: 0 });
    await soon(before, 401);
    for (const each of families) await soon(each, 401);
    const after = await issue(plain);
    expect(await read(after)).toBe(200); // in the same second too
  });

  test('a token whose family is missing in the store, as after a restore, is rejected', async () => {
    const client = await clientOf(start());
    const token = await issue(client);
    await service.store.writeDirectory(
      [directoryStatement('delete from refresh_family where client_id = $1', [client.client_id])],
      { announce: true },
    );
    expect(await read(token)).toBe(401);
  });

  test("a refresh grants only the client's current scopes (V)", async () => {
    const tenant = await start();
    const client = await service.createClient(tenant, { scopes: ['subscription:read', 'subscription:write'] });
    const token = await issue(client);
    expect(token.scope).toBe('subscription:read subscription:write');
    await service.store.writeDirectory([
      directoryStatement('update client set scopes = $2 where client_id = $1', [client.client_id, 'subscription:read']),
    ]);
    const next = (await (await refresh(client, token.refresh_token)).json()) as Issued;
    expect(next.scope).toBe('subscription:read');
    const wide = { scope: 'subscription:read subscription:write' };
    await expectTokenError(await refresh(client, next.refresh_token, wide), 'invalid_scope');
  });

  test('client sessions lists the sessions that can be refreshed, and client revoke-tokens revokes one or all (7.4.5, 7.5.2)', async () => {
    const tenant = await start();
    const client = await service.createClient(tenant);
    const plain = await service.createClient(tenant, { grants: ['client_credentials'] });
    const [kept, ended, bare] = [await issue(client), await issue(client), await issue(plain)];
    const { refresh_token: renewed } = (await (await refresh(client, kept.refresh_token)).json()) as Issued;
    const id = ['--client-id', client.client_id];
    const sessions = async () => {
      const { stdout } = await run('client', 'sessions', ...id, '--tenant', 'acme', '--json');
      return JSON.parse(stdout) as { session: string; refreshes: number }[];
    };
    expect((await sessions()).map(({ session, refreshes }) => [session, refreshes]).sort()).toEqual(
      [
        [kept.session_state, 1],
        [ended.session_state, 0],
      ].sort(),
    );
    const one = await run('client', 'revoke-tokens', ...id, '--session', ended.session_state ?? '', '--json');
    expect(JSON.parse(one.stdout)).toEqual({ client_id: client.client_id, revoked: ended.session_state });
    await soon(ended, 401);
    expect([await read(kept), await read(bare)]).toEqual([200, 200]);
    expect((await sessions()).map(({ session }) => session)).toEqual([kept.session_state]);
    const again = await run('client', 'revoke-tokens', ...id, '--session', ended.session_state ?? '');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Cannot revoke the session: /) });
    for (const each of [client, plain])
      expect((await run('client', 'revoke-tokens', '--client-id', each.client_id)).code).toBe(0);
    await soon(kept, 401);
    await soon(bare, 401);
    await expectTokenError(await refresh(client, renewed), 'invalid_grant');
    expect(await sessions()).toEqual([]);
    expect(await read(await issue(client))).toBe(200); // the secret stays valid
  });

  /** Returns a client with every grant, of a new tenant. */
  async function clientOf(tenant: ReturnType<typeof start>): Promise<TestClient> {
    const owner = await tenant; // starts the service
    return service.createClient(owner);
  }
});
