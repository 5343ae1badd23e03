import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSqlite } from '../../../../test/support/engines.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startServe, type TestService } from '../../../../test/support/service.ts';
import { connectOldest } from '../../../mcp/test/assistant.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';
import { insertAuditEntries } from '../../storage/tables/audit-entry.ts';

/** Starts a control sequence, reverses text, and hides some. */
const nasty = 'x\u009b31m\u202e\u200b\u{e0041}x';
const unescaped = /(?![\r\n\t])[\p{Cc}\u2028\u2029]|(?!\u200d)\p{Cf}/u;

const folder = mkdtempSync(join(tmpdir(), 'subreport-control-'));
const errorsFile = join(folder, 'errors.ndjson');
let service: TestService;
let environment: Readonly<Record<string, string>>;
const credentials = { client_id: 'acme', client_secret: 'a-secret-of-this-test' };

beforeAll(async () => {
  const opened = await openSqlite();
  service = await startServe(opened, { environment: {}, workers: 1 });
  const { client_id: clientId, client_secret: secret } = credentials;
  await service.createClient(await service.createTenant('acme'), { clientId, secret, name: nasty });
  await service.postToken({ grant_type: 'client_credentials', client_id: nasty, client_secret: 'x' });
  const nobody = { actorKind: 'anonymous', actorId: null, actorName: null, address: null, tenant: null, error: null };
  const refusal = { action: 'token.request', clientId: nasty, outcome: 'refused', correlationId: null, details: '{}' };
  await insertAuditEntries(opened.store, [{ recordedAt: Math.floor(Date.now() / 1000), ...nobody, ...refusal }]);
  const [row] = syntheticRows({ count: 1, seed: 1, until: 1_767_225_600 });
  const good = { ...row, id: 'good', product: { ...row?.product, id: nasty } };
  const rows = [good, { ...good, id: 'bad', iccid: nasty }];
  writeFileSync(join(folder, 'rows.ndjson'), rows.map((each) => `${JSON.stringify(each)}\n`).join(''));
  environment = {
    ...opened.environment,
    SUBREPORT_URL: service.url,
    SUBREPORT_CLIENT_ID: clientId,
    SUBREPORT_CLIENT_SECRET: secret,
  };
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

// the first line loads the record that the others print
test.each([
  'import ROWS --tenant acme --errors ERRORS --json',
  'import ROWS --tenant acme --dry-run',
  ...['audit --json', 'audit --ndjson', 'audit', 'audit --since 1h --ndjson'],
  ...['client list --json', 'client list', 'client show --client-id acme --json', 'client show --client-id acme'],
  ...['imports list --json', 'imports errors ID', 'imports show ID --json', 'doctor --json', 'config --json'],
  ...['list --json', 'list -o ndjson', 'list -o table', 'show RECORD --json', 'show RECORD', 'show RECORD --history'],
  ...['summary --by product-id --json', 'summary --by product-id -o table', 'changes -o ndjson', 'findings --json'],
  'sync --to stdout:ndjson',
])('%s prints no control character of a client or a record', async (line) => {
  const [imported] = line.includes('ID')
    ? JSON.parse((await runHere(['imports', 'list', '--json'], environment)).stdout)
    : [];
  const words = { ROWS: join(folder, 'rows.ndjson'), ERRORS: errorsFile, ID: imported?.id, RECORD: 'good' };
  const args = line.split(' ').map((word) => words[word as keyof typeof words] ?? word);
  const { stdout } = await runHere(args, environment);
  expect(stdout.length).toBeGreaterThan(0);
  expect(stdout).not.toMatch(unescaped);
});

test('neither do the file of rejected rows, the log of the service and the answers for an assistant', async () => {
  expect(readFileSync(errorsFile, 'utf8')).toContain('x\\u009b31m\\u202e\\u200b\\udb40\\udc41x');
  expect(service.logText()).toContain('\\u009b31m\\u202e');
  const assistant = await connectOldest(service, credentials);
  const { content } = await assistant.call('list_subscriptions');
  await assistant.close();
  for (const text of [readFileSync(errorsFile, 'utf8'), service.logText(), content[0]?.text])
    expect(text).not.toMatch(unescaped);
  expect(content[0]?.text).toContain('x\\u009b31m');
});
