import { createHash } from 'node:crypto';
import { type BigIntStats, rmSync, statSync } from 'node:fs';
import { StorageError } from '../error.ts';
import type { ImportLock, TenantId } from '../store.ts';
import { SqliteConnection } from './connection.ts';
import { createFile } from './folder.ts';

/**
 * Locks the imports into a tenant of the embedded store: an exclusive lock on an empty database
 * file of its own next to the store, which the operating system releases when the process exits.
 * Returns `undefined` if another process holds it.
 */
export function lockImportOnSqlite(databaseFile: string, tenant: TenantId): ImportLock | undefined {
  const name = createHash('sha256').update(tenant).digest('hex').slice(0, 16);
  const file = `${databaseFile}-import-${name}.lock`;
  for (;;) {
    createFile(file);
    const before = statOf(file);
    const connection = new SqliteConnection(file, 0);
    const refusal = lock(connection);
    if (isSameFile(before, statOf(file))) {
      if (refusal === undefined) return heldLock(connection, file);
      connection.close();
      if (refusal instanceof StorageError && refusal.code === 'BUSY') return undefined;
      throw refusal;
    }
    // its last holder removed the file that was opened here: another process may lock the next one
    connection.close();
  }
}

/** Locks the whole database; returns the error if that fails. */
function lock(connection: SqliteConnection): unknown {
  try {
    connection.run('begin exclusive');
    return undefined;
  } catch (error) {
    return error;
  }
}

const statOf = (file: string): BigIntStats | undefined => statSync(file, { bigint: true, throwIfNoEntry: false });

/**
 * Whether two results of `stat` refer to the same file. A new file may reuse the inode of a removed
 * one, but not its birth time as well.
 */
const isSameFile = (a: BigIntStats | undefined, b: BigIntStats | undefined): boolean =>
  a !== undefined && b !== undefined && a.ino === b.ino && a.birthtimeNs === b.birthtimeNs;

function heldLock(connection: SqliteConnection, file: string): ImportLock {
  let held = true;
  return {
    isHeld: () => held,
    release: async () => {
      if (!held) return;
      held = false;
      // removed while it is locked; Windows cannot remove an open file
      if (process.platform !== 'win32') rmSync(file, { force: true });
      connection.close();
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
