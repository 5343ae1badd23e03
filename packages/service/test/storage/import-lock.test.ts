import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockImportOnSqlite } from '../../storage/sqlite/locks.ts';
import type { TenantId } from '../../storage/store.ts';

const taker = fileURLToPath(new URL('../../../../test/support/lock-taker.ts', import.meta.url));
const run = promisify(execFile);
let folder: string;
const take = (tenant: string) => lockImportOnSqlite(join(folder, 'subreport.db'), tenant as TenantId);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-lock-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('the file of an import lock is readable only by its user, and the lock is free again after its release', async () => {
  const lock = take('acme');
  const [file = ''] = readdirSync(folder);
  expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  expect(take('acme')).toBeUndefined();
  expect(take('acme')).toBeUndefined(); // the failed attempt did not release the lock
  await lock?.release();
  const again = take('acme');
  expect(again?.isHeld()).toBe(true);
  await again?.release();
});

test('processes that take and release one import lock never hold it at the same time', async () => {
  await Promise.all(Array.from({ length: 3 }, () => run(process.execPath, [taker, folder, '150'])));
});
