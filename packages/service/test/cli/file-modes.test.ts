import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { mainProgram, runCommand } from '../../../../test/support/run-command.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

// Records, tokens and states are readable by the user who runs a command, whatever the umask of the
// shell allows to others.

let folder: string;
let opened: TestStore;
let service: TestService;
let environment: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-modes-'));
  opened = await engines[0].openTestStore();
  service = await startService(opened);
  const tenant = await service.createTenant('acme');
  const { client_id: id, client_secret: secret } = await service.createClient(tenant);
  await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a' })]);
  environment = {
    ...opened.environment,
    SUBREPORT_URL: service.url,
    SUBREPORT_CLIENT_ID: id,
    SUBREPORT_CLIENT_SECRET: secret,
  };
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

/** Commands that write files, in a folder of their own. */
const commands: readonly (readonly string[])[] = [
  ...['all.csv', 'all.csv.gz', 'all.ndjson', 'all.parquet', 'all.xlsx'].map((file) => ['export', file]),
  ['sync', '--to', 'sqlite:copy.db'],
  ['sync', '--to', 'dir:files', '--format', 'csv.gz'],
  ['sync', '--to', 'stdout:ndjson', '--state', 'state.db'],
  ['backup', 'backup.db'],
  ['generate', '--subscriptions', '5', '--output', 'made.ndjson'],
  ['import', 'bad.ndjson', '--tenant', 'acme', '--errors', 'errors.ndjson'],
];

test.each(commands)('%s %s leaves files that only the user can read', async (...args) => {
  const own = mkdtempSync(join(folder, 'command-'));
  const program = ['/bin/sh', '-c', 'umask 022; exec "$@"', 'sh', process.execPath, mainProgram] as const;
  const xdg = join(own, 'config');
  for (const name of ['config', 'files']) mkdirSync(join(own, name), { mode: 0o700 });
  const given = {
    'bad.ndjson': '{"id":"b"}\n',
  };
  for (const [name, text] of Object.entries(given)) writeFileSync(join(own, name), text);
  for (const name of Object.keys(given)) chmodSync(join(own, name), 0o600);
  const { stderr } = await runCommand(args, {
    program,
    cwd: own,
    environment: { ...environment, XDG_CONFIG_HOME: xdg },
  });
  const written = readdirSync(own, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !(name in given) && !['config', 'files'].includes(name),
  );
  expect(written, stderr).not.toEqual([]);
  for (const name of written) {
    const found = statSync(join(own, name));
    const mode = found.isDirectory() ? 0o700 : 0o600;
    expect([name, (found.mode & 0o777).toString(8)], stderr).toEqual([name, mode.toString(8)]);
  }
});
