import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOf } from '../support/command-folder.ts';
import { createDatabase, dropDatabase } from '../support/databases.ts';
import { engines, postgresUrl } from '../support/engines.ts';
import { subscriptionRow } from '../support/rows.ts';
import { runHere } from '../support/run-here.ts';
import { startService, type TestService } from '../support/service.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/sync.md', import.meta.url)), 'utf8');

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

test('docs/sync.md: the commands make a copy and verify it, its SQL runs, and they print what the page shows', async () => {
  const tenant = await service.createTenant('acme');
  const client = await service.createClient(tenant, { clientId: 'acme-reporting' });
  await service.store.loadSubscriptions(tenant, [
    subscriptionRow({ id: 'a' }),
    subscriptionRow({ id: 'b', status: 'EXPIRED' }),
  ]);
  const [exports = '', commands = ''] = blocksOf(page, 'sh');
  const variables = [...exports.matchAll(/(\w+)=/g)].map(([, name]) => name);
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
