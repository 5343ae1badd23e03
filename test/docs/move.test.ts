import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { blocksOf, makeCommandFolder } from '../support/command-folder.ts';
import { openPostgres, openSqlite, type TestStore } from '../support/engines.ts';
import { testRole } from '../support/global-setup.ts';
import { subscriptionRow } from '../support/rows.ts';
import { startService, type TestClient, type TestService } from '../support/service.ts';

// The commands of docs/operators/operating.md that move a store; `npm run citus` moves it to a
// cluster.

const page = readFileSync(fileURLToPath(new URL('../../docs/operators/operating.md', import.meta.url)), 'utf8');
const [, section = ''] = page.split('\n### Move to PostgreSQL or Citus\n');
const [commands = ''] = blocksOf(section, 'sh');
const tenants = ['acme', 'globex'];

let old: TestService;
let source: TestStore;
let target: TestStore;
let clients: TestClient[];
beforeEach(async () => {
  source = await openSqlite();
  target = await openPostgres(testRole, true);
  old = await startService(source, { REQUEST_SECONDS_MAX: '60' });
  clients = [];
  for (const [index, name] of tenants.entries()) {
    const tenant = await old.createTenant(name);
    const rows = Array.from({ length: 2_000 + index }, (_, n) =>
      subscriptionRow({ id: `${name}${n}`, createdDate: n }),
    );
    await old.store.loadSubscriptions(tenant, rows);
    await old.store.deleteSubscriptions(tenant, [`${name}7`]);
    clients.push(await old.createClient(tenant));
  }
});
afterEach(() => old.close());

/** The status and a digest of the records of a client. */
async function reportOf(service: TestService, client: TestClient): Promise<string> {
  const token = await service.accessToken(client);
  const response = await service.get('/v1/subscription?all=true&format=ndjson', token);
  const lines = (await response.text()).trim().split('\n').slice(0, -1);
  return `${response.status}, ${lines.length} records, ${createHash('sha256').update(lines.join('\n')).digest('hex')}`;
}
const reportsOf = (service: TestService) => Promise.all(clients.map((client) => reportOf(service, client)));

test('a filled store moves to PostgreSQL while it is read, with each record, client and former change', async () => {
  const before = await reportsOf(old);
  expect(before).toEqual([
    expect.stringMatching(/^200, 1999 records, /),
    expect.stringMatching(/^200, 2000 records, /),
  ]);
  const { folder, environment } = makeCommandFolder();
  const moved = promisify(execFile)(
    'bash',
    ['-c', `set -euo pipefail\n${commands.replace(/^export TARGET=.*$/m, '')}`],
    { cwd: folder, env: { ...environment, ...source.environment, TARGET: target.environment.DATABASE_URL } },
  ).finally(() => rmSync(folder, { recursive: true }));
  let isMoved = false;
  const end = () => {
    isMoved = true;
  };
  moved.then(end, end);
  const meanwhile = new Set<string>();
  while (!isMoved) for (const report of await reportsOf(old)) meanwhile.add(report);
  expect((await moved).stdout).toContain('ok');
  expect([...meanwhile].toSorted()).toEqual(before.toSorted());
  const next = await startService(target, { REQUEST_SECONDS_MAX: '60' });
  expect(await reportsOf(next)).toEqual(before);
  await next.close();
});
