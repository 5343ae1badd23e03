import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shownOutput } from '../examples/shown-output.ts';
import { blocksOf } from '../support/command-folder.ts';
import { createDatabase, dropDatabase } from '../support/databases.ts';
import { engines, postgresUrl } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { hasFlask, systemPython } from '../support/has-flask.ts';
import { subscriptionRow } from '../support/rows.ts';
import { type RunningCommand, startCommand, untilWritten } from '../support/run-command.ts';
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

/**
 * The status of a response, or `closed`: a receiver that refuses a body unread may close before all
 * of it is written.
 */
const statusOf = (response: Promise<Response>): Promise<number | 'closed'> =>
  response.then(
    ({ status }) => status,
    (error: Error) => {
      if (!/EPIPE|ECONNRESET|other side closed/.test(String(error.cause))) throw error;
      return 'closed';
    },
  );

/** The receivers of examples/, and the program that runs each. */
const receivers = [
  ['express-receiver.ts', process.execPath],
  ...(hasFlask() ? ([['flask-receiver.py', systemPython]] as const) : []),
] as const;

describe.each(receivers)('examples/%s', (name, program) => {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-receiver-'));
  const [create = '', sync = ''] =
    blocksOf(page, 'sh')
      .find((block) => block.includes('webhook.secret'))
      ?.trim()
      .split('\n') ?? [];
  const secretsFile = join(folder, 'webhook.secret');
  let receiver: RunningCommand;
  let url: string;
  beforeAll(async () => {
    execFileSync('bash', ['-c', create], { cwd: folder });
    // during a rotation, the secret of the sender may be any of them
    writeFileSync(secretsFile, `whsec_${randomBytes(32).toString('base64')}\n${readFileSync(secretsFile, 'utf8')}`);
    receiver = startCommand([fileURLToPath(new URL(`../../examples/${name}`, import.meta.url)), secretsFile], {
      program: [program],
      environment: { PORT: '0' },
    });
    await untilWritten(receiver, '/hooks/subreport\n');
    url = /http:\S+/.exec(receiver.stdout())?.[0] ?? '';
    writeFileSync(secretsFile, readFileSync(secretsFile, 'utf8').split('\n')[1] ?? '');
  });
  afterAll(async () => {
    receiver.child.kill();
    await receiver.ended;
    rmSync(folder, { recursive: true });
  });
  const printed = (): string => receiver.stdout().split('\n').slice(1).join('\n');

  test('accepts the events of the commands of docs/readers/sync.md', async () => {
    const tenant = await service.createTenant(name.split('-')[0] ?? '');
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
    await eventually(() => expect(printed()).toMatch(/^soon ends at .*Z\nread the changes since \S+\n$/));
    const shape = (text: string): string => text.replaceAll(/\S+ ends at \S+|(?<=since )\S+/g, '#');
    expect(shape(printed())).toBe(shape(shownOutput('express-receiver.ts')));
  });

  test('refuses what is not signed, signed too long ago, or too long, and handles each event once', async () => {
    const before = printed();
    const webhook = new Webhook(readFileSync(secretsFile, 'utf8').trim());
    const event = (id: string): string =>
      JSON.stringify({ id, type: 'subscription.changes', data: { reset: true, padding: '' } });
    const send = async (body: string, { id = 'one', sent = new Date(), headers = {} } = {}) => {
      const signed = {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sent.getTime() / 1_000)),
        'webhook-signature': webhook.sign(id, sent, body),
      };
      const type = { 'content-type': 'application/json' };
      return statusOf(fetch(url, { method: 'POST', body, headers: { ...type, ...signed, ...headers } }));
    };
    const past = new Date(Date.now() - 3_600_000);
    expect(await send(event('one'), { headers: { 'webhook-signature': 'v1,AAAA v1,ÿ v1a,x' } })).toBe(400);
    expect(await send(event('one'), { headers: { 'webhook-timestamp': '9'.repeat(5_000) } })).toBe(400);
    expect(await send(event('one'), { sent: past })).toBe(400);
    expect((await fetch(url, { method: 'POST' })).status).toBe(400);
    expect(await send(event('one').replace('""', `"${'x'.repeat(70_000)}"`))).toBeOneOf([413, 'closed']);
    const headers = { 'content-type': 'application/json' };
    // a body of unknown length
    const chunked = { body: new Blob(['x'.repeat(70_000)]).stream(), duplex: 'half' };
    expect(await statusOf(fetch(url, { method: 'POST', headers, ...chunked }))).toBeOneOf([413, 'closed']);
    expect(printed()).toBe(before);
    expect([await send(event('one')), await send(event('one')), await send(event('two'), { id: 'two' })]).toEqual([
      ...[204, 204, 204],
    ]);
    await eventually(() => expect(printed()).toBe(`${before}${'read everything again\n'.repeat(2)}`));
    // an event that could not be handled is sent again
    const broken = JSON.stringify({ id: 'broken', type: 'subscription.changes', data: null });
    const tries = [await send(broken, { id: 'broken' }), await send(broken, { id: 'broken' })];
    expect(tries).toEqual([500, 500]);
  });
});
