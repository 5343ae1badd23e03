import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createFolders } from '../../../terminal/create-folders.ts';
import { CommandError } from '../../../terminal/error.ts';
import { lockExclusive } from '../../storage/sqlite/locks.ts';
import { openSqliteStore } from '../../storage/sqlite/store.ts';
import type { Store } from '../../storage/store.ts';
import { checkLine, examineStore } from './examine-store.ts';

/**
 * A SQLite database in a staging directory, which becomes a backup or the live database after it
 * was checked.
 */
export interface StagedStore {
  readonly folder: string;
  readonly file: string;
  /**
   * Runs work with the store open, then closes it so that the file is complete without its
   * write-ahead log.
   */
  withStore<T>(work: (store: Store) => Promise<T>): Promise<T>;
}

/**
 * Runs work with a staging directory (mode 0700) that is deleted afterwards. One process at a time
 * uses a given directory; leftovers of a killed process are deleted first.
 */
export async function withStagedStore<T>(folder: string, work: (staged: StagedStore) => Promise<T>): Promise<T> {
  createFolders(folder);
  const lock = lockExclusive(join(folder, 'staging'));
  if (lock === undefined) {
    throw new CommandError(
      `Cannot start: only one backup or restore at a time may write to '${folder}', and another one is running`,
    );
  }
  const inner = join(folder, 'store');
  const file = join(inner, 'subreport.db');
  try {
    rmSync(inner, { recursive: true, force: true });
    mkdirSync(inner, { mode: 0o700 });
    return await work({ folder: inner, file, withStore: (use) => withOpenStore(inner, file, use) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
    lock.release();
  }
}

/** Time limit of one check, in milliseconds: every record is read. */
const checkingMs = 3_600_000;

async function withOpenStore<T>(folder: string, file: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = openSqliteStore(folder, { operationMs: checkingMs });
  const result = await work(store).finally(() => store.close());
  if (existsSync(`${file}-wal`)) throw new TypeError(`Cannot close '${file}': no connection may be left open`);
  return result;
}

/** What a database contains. */
export interface StoreCounts {
  readonly tenants: number;
  readonly records: number;
}

/**
 * Runs the checks of `subreport doctor`, and returns what they counted. Throws `CommandError` with
 * a remedy unless all pass.
 */
export async function requireHealthy(store: Store, cannot: string, remedy: string): Promise<StoreCounts> {
  const checks = await examineStore(store, { full: true });
  const problems = checks.filter(({ ok }) => !ok);
  if (problems.length > 0)
    throw new CommandError(
      `${cannot}: every check of 'subreport doctor' must pass:\n${problems.map(checkLine).join('\n')}\n${remedy}`,
    );
  const tenants = new Set(checks.flatMap(({ tenant }) => tenant ?? []));
  return { tenants: tenants.size, records: checks.reduce((sum, { records = 0 }) => sum + records, 0) };
}
