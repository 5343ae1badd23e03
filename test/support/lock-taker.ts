import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lockImportOnSqlite } from '../../packages/service/storage/sqlite/locks.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';

// Takes and releases an import lock repeatedly; fails if another process holds it at the same time.
const [folder = '', rounds = '0'] = process.argv.slice(2);
const holder = join(folder, 'holder');
let taken = 0;
while (taken < Number(rounds)) {
  const lock = lockImportOnSqlite(join(folder, 'subreport.db'), 'acme' as TenantId);
  if (lock === undefined) continue;
  closeSync(openSync(holder, 'wx'));
  rmSync(holder);
  await lock.release();
  taken += 1;
}
