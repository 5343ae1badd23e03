import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { type RunningCommand, startCommand, untilWritten } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import type { TestClient } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';
import type { TokenResponse } from '../../../contract/oauth/token.ts';
import { createClient } from '../../auth/clients/manage-clients.ts';
import type { TenantId } from '../../storage/store.ts';

const drawn = drawOne(engines, import.meta.url);

const now = (): number => Math.floor(Date.now() / 1000);
const processes = 3;

/** Limits that a slow machine could otherwise reach between two requests. */
const patient = { REQUEST_SECONDS_MAX: '60', REFRESH_GRACE_SECONDS: '300', ACCESS_TOKEN_SECONDS: '3600' };

/** Services in separate processes over one store, with one issuer. */
interface Fleet {
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

async function startFleet(opened: TestStore, more: Record<string, string> = {}): Promise<Fleet> {
  const ports = await Promise.all(Array.from({ length: processes }, freePort));
  const publicUrl = `http://127.0.0.1:${ports[0]}`;
  const commands: RunningCommand[] = ports.map((port) =>
    startCommand(['serve'], {
      environment: { ...opened.environment, ...patient, PORT: `${port}`, PUBLIC_URL: publicUrl, ...more },
    }),
  );
  await Promise.all(commands.map((command) => untilWritten(command, '"serving"')));
  return {
    urls: ports.map((port) => `http://127.0.0.1:${port}`),
    async stop() {
      for (const { child } of commands) child.kill('SIGTERM');
      expect((await Promise.all(commands.map(({ ended }) => ended))).map(({ code }) => code)).toEqual(
        ports.map(() => 0),
      );
    },
  };
}

const post = (url: string, path: string, form: Record<string, string>) =>
  fetch(`${url}${path}`, { method: 'POST', body: new URLSearchParams(form) });
const issue = async (url: string, client: TestClient): Promise<TokenResponse & { readonly refresh_token: string }> => {
  const response = await post(url, '/oauth2/token', { grant_type: 'client_credentials', ...client });
  expect(response.status).toBe(200);
  return (await response.json()) as TokenResponse & { readonly refresh_token: string };
};
const refresh = async (url: string, client: TestClient, token: string) => {
  const response = await post(url, '/oauth2/token', { grant_type: 'refresh_token', refresh_token: token, ...client });
  return { status: response.status, ...((await response.json()) as Partial<TokenResponse>) };
};
const read = async (url: string, token: string): Promise<number> => {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/connect-api/v1/subscription`, { headers });
  await response.arrayBuffer();
  return response.status;
};

describe.each(drawn)(`${processes} processes over one $engine`, ({ engine, openTestStore }) => {
  let opened: TestStore;
  let fleet: Fleet;
  let tenant: TenantId;
  const makeClient = () => createClient(opened.store, now(), { tenant });
  /** Sends the same request to every process, `each` times, all concurrently. */
  const everywhere = <T>(each: number, ask: (url: string) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: each }, () => fleet.urls.map(ask)).flat());

  beforeAll(async () => {
    opened = await openTestStore();
    tenant = await addTenant(opened.store, 'acme', now());
    fleet = await startFleet(opened);
  });
  afterAll(async () => {
    await fleet.stop();
    await opened.close();
  });

  test('32: concurrent refreshes of one token within the grace all get the same successor', async () => {
    const client = await makeClient();
    let token = (await issue(fleet.urls[0] ?? '', client)).refresh_token;
    for (let round = 0; round < 15; round += 1) {
      const answers = await everywhere(4, (url) => refresh(url, client, token));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      const successors = [...new Set(answers.map(({ refresh_token: successor }) => successor))];
      expect(successors).toHaveLength(1);
      token = successors[0] ?? '';
    }
  });

  test('31, 32: a client and a thief of every second refresh token never both hold a valid one', async () => {
    for (let round = 0; round < 8; round += 1) {
      const client = await makeClient();
      const first = (await issue(fleet.urls[0] ?? '', client)).refresh_token;
      const second = await refresh(fleet.urls[1] ?? '', client, first);
      const [owner, thief] = await Promise.all([
        refresh(fleet.urls[2] ?? '', client, second.refresh_token ?? ''),
        refresh(fleet.urls[0] ?? '', client, first),
      ]);
      const further = await Promise.all(
        [owner, thief].map(({ refresh_token: token = '' }, index) => refresh(fleet.urls[index] ?? '', client, token)),
      );
      const tokens = [first, ...[second, owner, thief, ...further].map(({ refresh_token: token = '' }) => token)];
      const told = await Promise.all(
        [...new Set(tokens)].filter(Boolean).map(async (token) => {
          const response = await post(fleet.urls[2] ?? '', '/oauth2/introspect', { token, ...client });
          return (await response.json()) as { active: boolean };
        }),
      );
      expect(told.length).toBeGreaterThan(2);
      expect(told.filter(({ active }) => active).length).toBeLessThanOrEqual(1);
    }
  });

  test('20: a client disabled by one process is rejected by all', async () => {
    const client = await makeClient();
    const { access_token: token, refresh_token: refreshToken } = await issue(fleet.urls[0] ?? '', client);
    expect(await everywhere(1, (url) => read(url, token))).toEqual(fleet.urls.map(() => 200));
    const disabled = ['client', 'disable', '--client-id', client.client_id];
    expect((await runHere(disabled, opened.environment)).code).toBe(0);
    await expect.poll(() => everywhere(1, (url) => read(url, token))).toEqual(fleet.urls.map(() => 401));
    const refused = await everywhere(1, (url) => refresh(url, client, refreshToken));
    expect(refused.map(({ status }) => status)).toEqual(fleet.urls.map(() => 401));
  });

  test('68: a token revoked at one process is rejected by all', async () => {
    const client = await makeClient();
    const { access_token: token, refresh_token: refreshToken } = await issue(fleet.urls[0] ?? '', client);
    expect(await everywhere(1, (url) => read(url, token))).toEqual(fleet.urls.map(() => 200));
    const revoked = await post(fleet.urls[1] ?? '', '/oauth2/revoke', { token: refreshToken, ...client });
    expect(revoked.status).toBe(200);
    await expect.poll(() => everywhere(1, (url) => read(url, token))).toEqual(fleet.urls.map(() => 401));
  });

  test.each(['--now', undefined])('rotating the keys in flight (%s) fails no request', async (mode) => {
    const client = await makeClient();
    let stop = false;
    const seen: number[] = [];
    const kids = new Set<unknown>();
    const work = Array.from({ length: 4 }, async (_, worker) => {
      let { refresh_token: token } = await issue(fleet.urls[worker % processes] ?? '', client);
      for (let step = worker; !stop; step += 1) {
        const [at, elsewhere] = [fleet.urls[step % processes] ?? '', fleet.urls[(step + 1) % processes] ?? ''];
        const answer = await refresh(at, client, token);
        seen.push(answer.status, await read(elsewhere, answer.access_token ?? ''));
        token = answer.refresh_token ?? '';
        kids.add(JSON.parse(Buffer.from((answer.access_token ?? '').split('.')[0] ?? '', 'base64url').toString()).kid);
      }
    });
    await expect.poll(() => kids.size).toBe(1);
    for (const purpose of ['access', 'refresh']) {
      const args = ['keys', 'rotate', '--purpose', purpose, ...(mode === undefined ? [] : [mode])];
      expect(await runHere(args, opened.environment)).toMatchObject({ code: 0, stderr: '' });
    }
    const beforeEnd = seen.length;
    await expect.poll(() => seen.length).toBeGreaterThan(beforeEnd + 20);
    await expect.poll(() => kids.size).toBe(mode === '--now' ? 2 : 1);
    stop = true;
    await Promise.all(work);
    expect(seen.filter((status) => status !== 200)).toEqual([]);
    expect(kids.size).toBe(mode === '--now' ? 2 : 1);
  });

  test.runIf(engine === 'postgres')(
    'a token revoked while the notification connection is cut off is rejected nevertheless',
    async () => {
      const client = await makeClient();
      const { access_token: token, refresh_token: refreshToken } = await issue(fleet.urls[0] ?? '', client);
      await everywhere(1, (url) => read(url, token));
      const admin = await connectPostgres(opened.environment.DATABASE_URL);
      const { rowCount } = await admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'subreport-listen' and datname = current_database()",
      );
      expect(rowCount).toBe(processes);
      await admin.end();
      await post(fleet.urls[1] ?? '', '/oauth2/revoke', { token: refreshToken, ...client });
      // A process may notice the cut only by the missing heartbeat.
      await expect.poll(() => everywhere(2, (url) => read(url, token))).toEqual(Array(processes * 2).fill(401));
    },
  );
});

describe.each(drawn)('REFRESH_GRACE_SECONDS=0 with several processes over one $engine', ({ openTestStore }) => {
  test('32 (strict): of concurrent refreshes of one token at most one succeeds, and the family is revoked', async () => {
    const opened = await openTestStore();
    const tenant = await addTenant(opened.store, 'acme', now());
    const fleet = await startFleet(opened, { REFRESH_GRACE_SECONDS: '0' });
    const client = await createClient(opened.store, now(), { tenant });
    for (let round = 0; round < 10; round += 1) {
      const { refresh_token: token } = await issue(fleet.urls[0] ?? '', client);
      const answers = await Promise.all(
        [...fleet.urls, ...fleet.urls, ...fleet.urls].map((url) => refresh(url, client, token)),
      );
      const won = answers.filter(({ status }) => status === 200);
      expect(won.length).toBeLessThanOrEqual(1);
      for (const { refresh_token: successor = '' } of won)
        expect((await refresh(fleet.urls[0] ?? '', client, successor)).status).toBe(400);
    }
    await fleet.stop();
    await opened.close();
  });
});
