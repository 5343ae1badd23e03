import { StorageError } from '../error.ts';
import { SqliteConnection } from './connection.ts';
import { createFile } from './create-file.ts';

/** A lock on the embedded store; it ends with its process, however that ends. */
export interface UseLock {
  release(): void;
}

/**
 * Says that this process uses the embedded store, until the lock is released: no restore can
 * replace the file meanwhile. Throws `StorageError` `BUSY` while a restore is running.
 */
export function lockUse(databaseFile: string): UseLock {
  // reading takes SQLite's shared lock
  const lock = takeLock(databaseFile, 'begin; select count(*) from sqlite_master');
  if (lock !== undefined) return lock;
  throw new StorageError(
    'BUSY',
    `Cannot open the embedded store '${databaseFile}': no restore may be running; try again when it has ended`,
  );
}

/** Keeps every other process from using the embedded store; `undefined` when one does. */
export function lockWhole(databaseFile: string): UseLock | undefined {
  return takeLock(databaseFile, 'begin exclusive');
}

/**
 * SQLite's own lock on an empty database beside the store: the operating system releases it when
 * the process ends. The file stays, as removing it would let two processes hold locks on two files
 * of one name.
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
