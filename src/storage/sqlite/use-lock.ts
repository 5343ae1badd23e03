import { StorageError } from '../error.ts';
import { SqliteConnection } from './connection.ts';
import { createFile } from './create-file.ts';

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
  const lock = takeLock(databaseFile, 'begin; select count(*) from sqlite_master');
  if (lock !== undefined) return lock;
  throw new StorageError(
    'BUSY',
    `Cannot open the embedded store '${databaseFile}': no restore may be running; try again when it has finished`,
  );
}

/** Locks the embedded store against every other process; `undefined` if another process uses it. */
export function lockExclusive(databaseFile: string): UseLock | undefined {
  return takeLock(databaseFile, 'begin exclusive');
}

/**
 * SQLite's own lock on an empty database next to the store: the operating system releases it when
 * the process exits. The file is not removed, because two processes could then lock two files of
 * the same name.
 */
function takeLock(databaseFile: string, take: string): UseLock | undefined {
  const file = `${databaseFile}-use.lock`;
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
