import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConnectServer, ordinary } from '../../packages/cli/test/reader/connect-server.ts';
import { blocksOf, makeCommandFolder } from '../support/command-folder.ts';
import { engines } from '../support/engines.ts';
import { expectProblem, expectTokenError } from '../support/expect-error.ts';
import { startService, type TestService } from '../support/service.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/readers/migrating-from-connect-api-v1.md'), 'utf8');
const [load = '', replace = '', create = ''] = blocksOf(page, 'sh');
const [, differences = ''] = /## What differs\n(.*?)\n## /s.exec(page) ?? [];
const subjects = [...differences.matchAll(/^\| (?!subject|-)([^|]+) \|/gm)].map(([, subject]) => subject);
const run = promisify(execFile);

/**
 * Records as the old service has them: without a status, with a period of 0, with ICCIDs of 16
 * digits.
 */
const oldRecords = Array.from({ length: 7 }, (_, n) => ({
  id: `b2xkLTAwMD${n}`,
  ...(n !== 3 && { status: n % 2 === 0 ? 'ACTIVE' : 'DEPLETED' }),
  activationDate: `2024-05-0${n + 1}T08:00:00Z`,
  expirationDate: `2024-06-0${n + 1}T08:00:00Z`,
  createdDate: `2024-05-0${n + 1}T08:00:07Z`,
  product: { id: 'cHJvZHVjdC0xNQ', name: 'World 15-Day', period: n === 0 ? 0 : 15, period_unit: 'DAYS', plan_id: 'p' },
  iccid: `894450010219830${n}`,
  device_id: `device-${n}`,
  auto_renew: n === 5 ? 'true' : 'false',
}));
const secret = 'q7Z2kVb9XcN4mRt8LwPyD3sGfHjA6uEe'; // as Keycloak generates them

describe('docs/readers/migrating-from-connect-api-v1.md', () => {
  let folder: string;
  let old: ConnectServer;
  let env: NodeJS.ProcessEnv;
  let service: TestService;
  let token: string;
  const client = { client_id: 'acme-reporting', client_secret: secret };
  const refresh = (refreshToken: string) =>
    service.postToken({ grant_type: 'refresh_token', refresh_token: refreshToken, ...client });
  const runBash = (command: string) => run('bash', ['-c', `set -eu\n${command}`], { cwd: folder, env });
  const pageOf = async (query: string): Promise<unknown[]> =>
    (await service.get(`/v1/subscription${query}`, token)).json();

  beforeAll(async () => {
    const made = makeCommandFolder();
    folder = made.folder;
    old = new ConnectServer(oldRecords);
    old.variant = { ...ordinary, firstPage: 0, sizeMax: 3, rejectsLargerSize: false, sendsHeaders: false };
    await old.listen();
    const { baseUrl, tokenUrl, clientId, clientSecret } = old.target;
    const account = { base_url: baseUrl, token_url: tokenUrl, client_id: clientId, client_secret: clientSecret };
    writeFileSync(join(folder, 'origin.json'), JSON.stringify(account));
    const opened = await engines[0].openTestStore();
    service = await startService(opened, { REQUEST_SECONDS_MAX: '60' });
    env = { ...made.environment, ...opened.environment, XDG_CONFIG_HOME: folder, CLIENT_SECRET: secret };
    for (const command of [load, create]) await runBash(command);
    token = await service.accessToken(client);
  });
  afterAll(async () => {
    old.close();
    await service.close();
    rmSync(folder, { recursive: true });
  });

  test('has commands that load every record of an old service whose pages begin with 0', async () => {
    expect(readFileSync(join(folder, 'rejected.ndjson'), 'utf8')).toBe('');
    expect(await pageOf('')).toEqual(oldRecords);
  });

  test('has commands that follow an old service which repeats its last page for ever', async () => {
    old.variant = { ...old.variant, firstPage: 1, afterLastPage: 'last page' };
    old.records = oldRecords.map((record) => ({ ...record, status: 'EXPIRED' })).slice(0, 5);
    await runBash(replace);
    expect(await pageOf('')).toEqual(old.records);
    old.records = oldRecords;
    await runBash(replace);
    expect(await pageOf('')).toEqual(oldRecords);
  });

  test('has commands that change nothing if the old service fails, or responds with an empty list', async () => {
    old.behavior = {
      response: (response, { query }) => (/page=2/.test(query) ? { ...response, status: 500 } : response),
    };
    await expect(runBash(replace)).rejects.toMatchObject({ code: 1 });
    old.behavior = {};
    old.records = [];
    const stderr = expect.stringMatching(/^Cannot replace .*--remove/m);
    await expect(runBash(replace)).rejects.toMatchObject({ code: 1, stderr });
    expect(await pageOf('')).toEqual(oldRecords);
  });

  const claims: Record<string, () => Promise<unknown>> = {
    'page size': async () => {
      const response = await service.get('/v1/subscription', token);
      expect(response.headers.get('x-next-page')).toBeNull(); // 7 of at most 20
      await expectProblem(await service.get('/v1/subscription?size=1001', token), 'INVALID_REQUEST_PARAMS');
    },
    'first page': async () => {
      expect(await pageOf('?size=3&page=1')).toHaveLength(3);
      await expectProblem(await service.get('/v1/subscription?page=0', token), 'INVALID_REQUEST_PARAMS');
    },
    '`before`, `after`': async () => {
      const bounds = 'after=2024-05-01T08:00:07Z&before=2024-05-04T08:00:07Z';
      expect(await pageOf(`?${bounds}`)).toHaveLength(2);
      expect(await pageOf(`?${bounds}&date-field=activation`)).toHaveLength(3);
    },
    'unknown parameters': async () => {
      const { messages } = await expectProblem(
        await service.get('/v1/subscription?icid=8944500102198300', token),
        'INVALID_REQUEST_PARAMS',
      );
      expect(messages[0]).toContain("'icid'");
    },
    'past the last page': async () => expect(await pageOf('?page=9')).toEqual([]),
    errors: async () => {
      const problem = await expectProblem(await service.get('/v1/subscription', 'wrong'), 'UNAUTHORISED');
      expect(problem.messages).not.toEqual([]);
    },
    'wrong client secret': async () =>
      expectTokenError(
        await service.postToken({ grant_type: 'client_credentials', ...client, client_secret: 'wrong' }),
        'invalid_client',
      ),
    'used refresh token': async () => {
      const issued = await service.postToken({ grant_type: 'client_credentials', ...client });
      const { refresh_token: first } = await issued.json();
      const { refresh_token: second } = await (await refresh(first)).json();
      expect((await (await refresh(first)).json()).refresh_token).toBe(second);
      expect((await refresh(second)).status).toBe(200);
      await expectTokenError(await refresh(first), 'invalid_grant');
    },
    '`auto_renew`': async () => expect(await pageOf('?auto-renew=true')).toMatchObject([{ auto_renew: 'true' }]),
    '`status`': async () => {
      const [expired] = (await pageOf('?status=ACTIVE&before=2024-05-02T00:00:00Z')) as { status: string }[];
      // its expirationDate is past, and its status unchanged
      expect(expired?.status).toBe('ACTIVE');
    },
    '`/v1/sim/{iccid}/subscriptions`': async () => {
      await expectProblem(await service.get('/v1/sim/8944500102198302/subscriptions', token), 'NOT_FOUND');
      expect(await pageOf('?iccid=8944500102198302')).toMatchObject([{ id: oldRecords[2]?.id }]);
    },
  };

  test.each(Object.entries(claims))('is right about %s', async (subject, holds) => {
    expect(subjects).toContain(subject);
    await holds();
  });

  test('lists only differences that are tested', () => {
    expect(Object.keys(claims).toSorted()).toEqual(subjects.toSorted());
  });
});
