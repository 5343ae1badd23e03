import { createHash } from 'node:crypto';
import { StorageError } from '../error.ts';
import type { ImportLock, TenantId } from '../store.ts';
import { SqliteConnection } from './connection.ts';
import { createFile } from './folder.ts';

/** Locks the imports into a tenant; `undefined` if another process holds the lock. */
export function lockImportOnSqlite(databaseFile: string, tenant: TenantId): ImportLock | undefined {
  const name = createHash('sha256').update(tenant).digest('hex').slice(0, 16);
  const lock = takeLock(`${databaseFile}-import-${name}.lock`, 'begin exclusive');
  if (lock === undefined) return undefined;
  let held = true;
  return {
    isHeld: () => held,
    release: async () => {
      if (held) lock.release();
      held = false;
    },
  };
}

/** A lock on the embedded store; the operating system releases it when the process exits. */
export interface UseLock {
  release(): void;
}

/**
 * Locks the embedded store in shared mode, so that no restore can replace its file meanwhile.
 * Throws `StorageError` `BUSY` while another process has it to itself.
 */
export function lockShared(databaseFile: string): UseLock {
  // reading takes SQLite's shared lock
  const lock = takeLock(useLockOf(databaseFile), 'begin; select count(*) from sqlite_master');
  if (lock !== undefined) return lock;
  throw new StorageError(
    'BUSY',
    `Cannot open the embedded store '${databaseFile}': no restore may be running; try again when it has finished`,
  );
}

/** Locks the embedded store against every other process; `undefined` if another process uses it. */
export function lockExclusive(databaseFile: string): UseLock | undefined {
  return takeLock(useLockOf(databaseFile), 'begin exclusive');
}

const useLockOf = (databaseFile: string): string => `${databaseFile}-use.lock`;

/**
 * SQLite's own lock on an empty database next to the store: the operating system releases it when
 * the process exits. The file is not removed, because two processes could then lock two files of
 * the same name.
 */
function takeLock(file: string, take: string): UseLock | undefined {
  createFile(file);
  const connection = new SqliteConnection(file, 0);
  try {
    connection.run(take);
  } catch (error) {
    connection.close();
    if (error instanceof StorageError && error.code === 'BUSY') return undefined;
    throw error;
  }
  return { release: () => connection.close() };
}
