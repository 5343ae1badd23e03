import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the oldest PostgreSQL that is supported: by default that of Debian's package. */
export const oldestPostgres = process.env.POSTGRES_15 ?? '/usr/lib/postgresql/15';

/** Whether the suites of the store can run on it; never false in CI. */
export function hasOldestPostgres(): boolean {
  if (existsSync(join(oldestPostgres, 'bin/initdb'))) return true;
  const message =
    'the suites of the store are not run on PostgreSQL 15: install postgresql-15 or set POSTGRES_15 to its folder with bin/';
  if (process.env.CI !== undefined) throw new Error(`Cannot run the tests: ${message}`);
  process.stderr.write(`SKIPPED: ${message}\n`);
  return false;
}
