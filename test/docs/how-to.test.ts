import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { hasReceivers, namesAt, startS3 } from '../../packages/cli/test/sync/file-servers.ts';
import { fixedLimits } from '../../packages/service/cli/settings/fixed-limits.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { queryDuckDb } from '../support/checker-packages.ts';
import { blocksOf, makeCommandFolder } from '../support/command-folder.ts';
import { engines } from '../support/engines.ts';
import { hasTools } from '../support/has-tools.ts';
import { subscriptionRow } from '../support/rows.ts';
import { startService, type TestClient, type TestService } from '../support/service.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (page: string): string => readFileSync(join(root, 'docs', page), 'utf8').replaceAll(/^ {3}/gm, '');
const run = promisify(execFile);

describe.runIf(hasTools('curl', 'jq'))('the guides of docs', () => {
  let folder: string;
  let environment: NodeJS.ProcessEnv;
  let service: TestService;
  let client: TestClient;
  let tenant: TenantId;
  const rows = Array.from({ length: 2_345 }, (_, n) =>
    subscriptionRow({ id: `id_${n}`, email: n < 3 ? 'ada@example.com' : null }),
  );
  const bash = async (commands: string, more: NodeJS.ProcessEnv = {}): Promise<string> => {
    const env = { ...environment, ...more };
    return (await run('bash', ['-c', `set -euo pipefail\n${commands}`], { cwd: folder, env })).stdout;
  };

  beforeAll(async () => {
    const made = makeCommandFolder();
    folder = made.folder;
    const opened = await engines[0].openTestStore();
    service = await startService(opened, { REQUEST_SECONDS_MAX: '60' });
    tenant = await service.createTenant('acme');
    client = await service.createClient(tenant, { clientId: 'acme-reporting' });
    await service.store.loadSubscriptions(tenant, rows);
    environment = {
      ...made.environment,
      ...opened.environment,
      PUBLIC_URL: service.url,
      CLIENT_ID: client.client_id,
      CLIENT_SECRET: client.client_secret,
    };
  });
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });

  describe('read-every-page.md reads every active subscription once', () => {
    const page = read('readers/read-every-page.md');
    const active = rows.filter(({ status }) => status === 'ACTIVE').map(({ id }) => id);
    const [js = ''] = blocksOf(page, 'js');
    const [python = ''] = blocksOf(page, 'python');
    const expectAll = (stdout: string) => expect(stdout.trim().split('\n').toSorted()).toEqual(active.toSorted());

    test('with curl', async () => {
      expect(active.length).toBeGreaterThan(2_000);
      expectAll(await bash(blocksOf(page, 'bash').join('')));
    });

    test('with the client library in JavaScript', async () => {
      // the sources replace the package; Node.js runs them: their real path is not in node_modules
      const installed = join(folder, 'node_modules/@subreport/client');
      mkdirSync(installed, { recursive: true });
      symlinkSync(join(root, 'packages'), join(installed, 'packages'));
      writeFileSync(join(installed, 'package.json'), '{ "type": "module", "exports": "./packages/client/index.ts" }');
      writeFileSync(join(folder, 'read.mjs'), js);
      expectAll(await bash('node read.mjs'));
    });

    test.runIf(hasTools('python3'))('with the client library in Python', async () => {
      writeFileSync(join(folder, 'read.py'), python);
      expectAll(await bash('python3 read.py', { PYTHONPATH: join(root, 'clients/python') }));
    });
  });

  test('rotate-a-client-secret.md: both secrets work until the old one is revoked with its tokens', async () => {
    const [rotate = '', show = '', endOld = ''] = blocksOf(read('operators/rotate-a-client-secret.md'), 'sh');
    const token = await service.accessToken(client);
    const statusOf = async (secret: string) =>
      (await service.postToken({ grant_type: 'client_credentials', ...client, client_secret: secret })).status;
    const secretIn = (stdout: string): string => /"client_secret":"([^"]+)"/.exec(stdout)?.[1] ?? '';
    const next = secretIn(await bash(`${rotate.trim()} --json`));
    expect([await statusOf(client.client_secret), await statusOf(next)]).toEqual([200, 200]);
    expect(await bash(show)).toMatch(
      /secrets +created \S+; created \S+, expires |secrets +created \S+, expires \S+; created /,
    );
    expect((await service.get('/v1/subscription', token)).status).toBe(200);
    const last = secretIn(await bash(`${endOld.trim()} --json`));
    expect([await statusOf(client.client_secret), await statusOf(next), await statusOf(last)]).toEqual([401, 401, 200]);
    await expect.poll(async () => (await service.get('/v1/subscription', token)).status).toBe(401);
    client = { ...client, client_secret: last };
  });

  test('day-two.md: a colleague gets a client and a token that read, and a person all that is stored', async () => {
    const [colleague = '', person = ''] = blocksOf(read('operators/day-two.md'), 'sh');
    const [createClient = '', createOperator = ''] = colleague.trim().split('\n');
    const { client_secret } = JSON.parse(await bash(`${createClient} --json`));
    expect(await bash('npx subreport client show --client-id ada-reading')).toMatch(/scopes +subscription:read\n/);
    expect(JSON.parse(await bash(`${createOperator} --json`)).scopes).toEqual(['operator:read']);
    const reader = {
      SUBREPORT_URL: service.url,
      SUBREPORT_CLIENT_ID: 'ada-reading',
      SUBREPORT_CLIENT_SECRET: client_secret,
    };
    expect(await bash(person, reader)).toMatch(/"id":"id_1"/);
    const [, ...lines] = readFileSync(join(folder, 'person.csv'), 'utf8').trim().split('\n');
    expect(lines.map((line) => /id_\d/.exec(line)?.[0]).toSorted()).toEqual(['id_0', 'id_1', 'id_2']);
  });

  test('erase-a-person.md erases only the subscriptions of one address, and can be repeated', async () => {
    const commands = blocksOf(read('operators/erase-a-person.md'), 'sh');
    const token = await service.accessToken(client);
    for (const _again of [1, 2]) await bash(commands.join(''), { TOKEN: token });
    const ids = (await (await service.get('/v1/subscription?size=5', token)).json()) as { id: string }[];
    const total = (await service.get('/v1/subscription?size=1', token)).headers.get('x-total-count');
    expect(total).toBe(String(rows.length - 3));
    expect(ids.map(({ id }) => id).filter((id) => ['id_0', 'id_1', 'id_2'].includes(id))).toEqual([]);
  });

  test('grafana.md: the data source gets a token, and each panel the rows that it names', async () => {
    const page = readFileSync(join(root, 'docs/readers/grafana.md'), 'utf8');
    const [{ jsonData, secureJsonData }] = parse(blocksOf(page, 'yaml')[0] ?? '').datasources;
    const { oauth2, allowedHosts } = jsonData;
    expect(secureJsonData).toEqual({ oauth2ClientSecret: '$SUBREPORT_CLIENT_SECRET' });
    const here = (url: string): string => url.replace(allowedHosts[0], service.url);
    const { oauth2_type: grant_type, client_id } = oauth2;
    const body = new URLSearchParams({ grant_type, client_id, client_secret: client.client_secret });
    const response = await fetch(here(oauth2.token_url), { method: 'POST', body });
    const { access_token: token } = (await response.json()) as { access_token: string };
    const panels = [...page.matchAll(/`(https:\S+)` \| `(\S+)` \|/g)];
    const found = await Promise.all(
      panels.map(async ([, url = '', rows = '']) => {
        const range = url
          .replace(/\$\{__from.*?\}/, '2023-11-01T00:00:00.000Z')
          .replace(/\$\{__to.*?\}/, '2024-10-01T00:00:00.000Z');
        const answer = await fetch(here(range), { headers: { authorization: `Bearer ${token}` } });
        const { total, by } = (await answer.json()) as { total: number; by: Record<string, object[]> };
        return rows === 'total' ? total : by[rows.replace('by.', '')];
      }),
    );
    const count = expect.any(Number);
    expect(found).toEqual([
      expect.arrayContaining([{ value: 'ACTIVE', count }]),
      expect.arrayContaining([{ value: expect.any(String), name: 'Europe 1 GB', count }]),
      expect.arrayContaining([{ value: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), count }]),
      count,
    ]);
  });

  test('nightly-parquet.md: its remotes can be made, its line of cron writes one file a night, and the commands find it', async () => {
    const [remotes = '', cron = '', find = ''] = blocksOf(read('readers/nightly-parquet.md'), 'sh');
    // before three o'clock, the run of today is yet to come
    const line = cron.replace('0 3 * * * . /etc/subreport.env; ', '').replaceAll('\\%', '%').replace('T03:', 'T00:');
    expect(line).toMatch(/^run=\$\(date -u \+%F/);
    const variables = {
      SUBREPORT_URL: service.url,
      SUBREPORT_CLIENT_ID: client.client_id,
      SUBREPORT_CLIENT_SECRET: client.client_secret,
    };
    if (hasReceivers()) {
      const config = { RCLONE_CONFIG: join(folder, 'rclone.conf') };
      await bash(remotes, config);
      expect(await bash('rclone listremotes', config)).toBe('azure:\ngcs:\ns3:\nsftp:\n');
      const s3 = await startS3(join(folder, 's3'));
      // this S3 instead of Amazon's, with keys instead of a role; the rest is that of the page
      const keys = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
      const here = { ...variables, ...config, ...keys, RCLONE_S3_ENDPOINT: s3.url, RCLONE_S3_PROVIDER: 'Other' };
      for (const _again of [1, 2]) await bash(line, here);
      expect(await bash('subreport sync verify --to rclone:s3:exports/subreport', here)).toContain(
        'equals its manifest and the report',
      );
      expect(namesAt(s3.placeOf('subreport'))).toHaveLength(2);
      s3.stop();
    }
    mkdirSync(join(folder, 'exports'));
    for (const _again of [1, 2]) await bash(line.replace('rclone:s3:exports/subreport', 'dir:exports'), variables);
    const file = (await bash(`${find.replaceAll('/var/', '')}\necho "$file"`, variables)).trim();
    const total = (await service.get('/v1/subscription?size=1', await service.accessToken(client))).headers;
    const found = await parquetReadObjects({ file: new Uint8Array(readFileSync(join(folder, file))).buffer });
    expect(String(found.length)).toBe(total.get('x-total-count'));
    if (queryDuckDb !== undefined)
      expect(await queryDuckDb(`from read_parquet('${join(folder, file)}')`)).toHaveLength(found.length);
    expect(readdirSync(join(folder, 'exports'))).toHaveLength(1);
  });

  test('run-behind-nginx.md keeps a paused export open longer than the service does', () => {
    const page = read('operators/run-behind-nginx.md');
    expect(Number(/proxy_read_timeout (\d+)s;/.exec(page)?.[1])).toBeGreaterThan(fixedLimits.exportStallSeconds);
  });
});
