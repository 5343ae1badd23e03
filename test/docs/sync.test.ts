import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf } from '../support/command-folder.ts';
import { createDatabase, dropDatabase } from '../support/databases.ts';
import { engines, postgresUrl } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { subscriptionRow } from '../support/rows.ts';
import { runHere } from '../support/run-here.ts';
import { startService, type TestService } from '../support/service.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/readers/sync.md', import.meta.url)), 'utf8');

let service: TestService;
let copy: string;
beforeAll(async () => {
  service = await startService(await engines[0].openTestStore());
  const server = await postgresUrl();
  await createDatabase(server, 'sync_page');
  copy = Object.assign(new URL(server), { pathname: '/sync_page' }).href;
});
afterAll(async () => {
  await service.close();
  await dropDatabase(await postgresUrl(), 'sync_page');
});

test('docs/readers/sync.md: the commands make a copy and verify it, its SQL runs, and they print what the page shows', async () => {
  const tenant = await service.createTenant('acme');
  const client = await service.createClient(tenant, { clientId: 'acme-reporting' });
  await service.store.loadSubscriptions(tenant, [
    subscriptionRow({ id: 'a' }),
    subscriptionRow({ id: 'b', status: 'EXPIRED' }),
  ]);
  const [exports = '', commands = ''] = blocksOf(page, 'sh');
  const variables = [...exports.matchAll(/(?<=\s)(\w+)=/g)].map(([, name]) => name);
  expect(variables).toEqual(['SUBREPORT_URL', 'SUBREPORT_CLIENT_ID', 'SUBREPORT_CLIENT_SECRET', 'COPY', 'PGPASSWORD']);
  const environment = {
    SUBREPORT_URL: service.url,
    SUBREPORT_CLIENT_ID: client.client_id,
    SUBREPORT_CLIENT_SECRET: client.client_secret,
  };
  const printed: string[] = [];
  const lines = commands.trim().split('\n');
  for (const line of lines.filter((line) => line.startsWith('subreport '))) {
    const { code, stdout } = await runHere(line.replace('"$COPY"', copy).split(' ').slice(1), environment);
    expect(code).toBe(0);
    printed.push(stdout);
  }
  const shape = (text: string) => text.replaceAll(/[\d,]+(?= rows)|revision \d+|SHA-256 \S+/g, '#');
  expect(shape(printed.join(''))).toBe(shape(blocksOf(page, 'text')[0] ?? ''));
  const sql = /^psql "\$COPY" -c '(.*)'$/.exec(lines.at(-1) ?? '')?.[1] ?? '';
  const database = new pg.Client({ connectionString: copy });
  await database.connect();
  const { rows } = await database.query(sql);
  await database.end();
  expect(rows).toEqual([
    { status: 'ACTIVE', count: '1' },
    { status: 'EXPIRED', count: '1' },
  ]);
});

describe('docs/readers/receive-webhooks.md', () => {
  const guide = readFileSync(fileURLToPath(new URL('../../docs/readers/receive-webhooks.md', import.meta.url)), 'utf8');
  let folder: string;
  let receiver: ChildProcess;
  afterEach(() => {
    receiver.kill();
    rmSync(folder, { recursive: true });
  });

  test('the receiver accepts the events of the commands of docs/readers/sync.md, each once, and no others', async () => {
    folder = mkdtempSync(join(tmpdir(), 'subreport-receiver-'));
    symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'receiver.mjs'), blocksOf(guide, 'js')[0] ?? '');
    const [create = '', sync = ''] =
      blocksOf(page, 'sh')
        .find((block) => block.includes('webhook.secret'))
        ?.trim()
        .split('\n') ?? [];
    execFileSync('bash', ['-c', create], { cwd: folder });
    const port = await freePort();
    const secret = readFileSync(join(folder, 'webhook.secret'), 'utf8').trim();
    const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
    receiver = spawn(process.execPath, ['receiver.mjs'], { cwd: folder, env });
    let printed = '';
    receiver.stdout?.on('data', (part) => {
      printed += part;
    });
    const url = `http://127.0.0.1:${port}/hooks/subreport`;
    const forged = () => fetch(url, { method: 'POST', body: '{}' }).then(({ status }) => status);
    await eventually(async () => expect(await forged()).toBe(400));

    const tenant = await service.createTenant('events');
    const { client_id, client_secret } = await service.createClient(tenant);
    const environment = {
      ...{ SUBREPORT_URL: service.url, SUBREPORT_CLIENT_ID: client_id, SUBREPORT_CLIENT_SECRET: client_secret },
    };
    const line = sync
      .replace('https://example.com/hooks/subreport', url)
      .replaceAll(/webhook\.(db|secret)/g, `${folder}/$&`);
    const run = () => runHere(line.split(' ').slice(1), environment);
    expect((await run()).code).toBe(0);
    const expirationDate = Math.floor(Date.now() / 1_000) + 3_600;
    await service.store.loadSubscriptions(tenant, [
      subscriptionRow({ id: 'soon', expirationDate, autoRenew: 'false' }),
    ]);
    expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining('2 events delivered') });
    expect((await run()).stdout).toContain('0 events delivered');
    await eventually(() => expect(printed).toMatch(/^soon ends at .*Z\nread the changes since \S+\n$/));
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
