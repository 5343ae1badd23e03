import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf, makeCommandFolder } from '../support/command-folder.ts';
import { engines } from '../support/engines.ts';
import { expectProblem, expectTokenError } from '../support/expect-error.ts';
import { hasTools } from '../support/has-tools.ts';
import { startService, type TestService } from '../support/service.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/readers/migrating-from-connect-api-v1.md'), 'utf8');
const commands = blocksOf(page, 'sh');
const [, differences = ''] = /## What differs\n(.*?)\n## /s.exec(page) ?? [];
const subjects = [...differences.matchAll(/^\| (?!subject|-)([^|]+) \|/gm)].map(([, subject]) => subject);
const run = promisify(execFile);

/**
 * Records as the old service has them: a boolean auto_renew, no status, a period of 0, ICCIDs of 16
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
  auto_renew: n === 5 ? true : 'false',
}));
const secret = 'q7Z2kVb9XcN4mRt8LwPyD3sGfHjA6uEe'; // as Keycloak generates them

/**
 * A service with the interface of the published Connect API v1: pages of 3 records, linked by
 * X-Next-Page.
 */
function startOldService(): Server {
  return createServer((request, response) => {
    const url = new URL(request.url ?? '', `http://${request.headers.host}`);
    const number = Number(url.searchParams.get('page') ?? '1');
    if (number * 3 < oldRecords.length)
      response.setHeader('X-Next-Page', `${url.origin}${url.pathname}?page=${number + 1}`);
    response.statusCode = request.headers.authorization === 'Bearer old' ? 200 : 401;
    response.end(JSON.stringify(oldRecords.slice((number - 1) * 3, number * 3)));
  }).listen(0, '127.0.0.1');
}

describe.runIf(hasTools('curl', 'jq'))('docs/readers/migrating-from-connect-api-v1.md', () => {
  let folder: string;
  let old: Server;
  let service: TestService;
  let token: string;
  const client = { client_id: 'acme-reporting', client_secret: secret };
  const refresh = (refreshToken: string) =>
    service.postToken({ grant_type: 'refresh_token', refresh_token: refreshToken, ...client });
  const pageOf = async (query: string): Promise<unknown[]> =>
    (await service.get(`/v1/subscription${query}`, token)).json();

  beforeAll(async () => {
    const made = makeCommandFolder();
    folder = made.folder;
    old = startOldService();
    await once(old, 'listening');
    const opened = await engines[0].openTestStore();
    service = await startService(opened, { REQUEST_SECONDS_MAX: '60' });
    const env = {
      ...made.environment,
      ...opened.environment,
      OLD_URL: `http://127.0.0.1:${(old.address() as AddressInfo).port}`,
      OLD_TOKEN: 'old',
      CLIENT_SECRET: secret,
    };
    await run('bash', ['-c', `set -eu\n${commands.join('')}`], { cwd: folder, env });
    token = await service.accessToken(client);
  });
  afterAll(async () => {
    old.close();
    await service.close();
    rmSync(folder, { recursive: true });
  });

  test('has commands that load every record of the old service', async () => {
    expect(commands).toHaveLength(3);
    expect(readFileSync(join(folder, 'rejected.ndjson'), 'utf8')).toBe('');
    expect(await pageOf('')).toEqual(oldRecords.map((each) => ({ ...each, auto_renew: String(each.auto_renew) })));
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
