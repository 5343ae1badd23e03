import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { blocksOf, makeCommandFolder } from '../support/command-folder.ts';
import { engines } from '../support/engines.ts';
import { hasTools } from '../support/has-tools.ts';
import { startService } from '../support/service.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/operators/keys.md', import.meta.url)), 'utf8');
const [, section = ''] = page.split('\n## A lost KEY_ENCRYPTION_SECRET\n');
const lines = (blocksOf(section, 'sh')[0] ?? '').trim().split('\n');
const tools = { sqlite: 'sqlite3', postgres: 'psql' };
const available = engines.filter(({ engine }) => hasTools(tools[engine]));
const drawSecret = () => ({ KEY_ENCRYPTION_SECRET: randomBytes(32).toString('base64') });

test.each(available)('a service on $engine starts without its lost secret once the keys are deleted', async (each) => {
  const opened = await each.openTestStore();
  const kept = { ...opened, close: async () => undefined };
  const [lost, next] = [drawSecret(), drawSecret()];
  const before = await startService(kept, lost);
  const client = await before.createClient(await before.createTenant('acme'));
  const old = await before.accessToken(client);
  await before.close();
  await expect(startService(kept, next)).rejects.toThrow('if it is lost, delete the keys (docs/operators/keys.md)');

  const { folder, environment } = makeCommandFolder();
  const command = lines.filter((line) => line.startsWith(tools[each.engine])).join('\n');
  const env = { ...environment, ...opened.environment };
  await promisify(execFile)('bash', ['-euc', command], { cwd: folder, env });
  rmSync(folder, { recursive: true });

  const after = await startService(opened, next);
  const statusOf = async (token: string) => (await after.get('/v1/subscription', token)).status;
  expect([await statusOf(old), await statusOf(await after.accessToken(client))]).toEqual([401, 200]);
  await after.close();
});
