import { createHash } from 'node:crypto';
import { type BigIntStats, rmSync, statSync, writeFileSync } from 'node:fs';
import { StorageError } from '../error.ts';
import type { ImportLock, TenantId } from '../store.ts';
import { SqliteConnection } from './connection.ts';

/**
 * Locks the imports into a tenant of the embedded store: an exclusive lock on an empty database
 * file of its own next to the store, which the operating system releases when the process exits.
 * Returns `undefined` if another process holds it.
 */
export function lockImportOnSqlite(databaseFile: string, tenant: TenantId): ImportLock | undefined {
  const name = createHash('sha256').update(tenant).digest('hex').slice(0, 16);
  const file = `${databaseFile}-import-${name}.lock`;
  for (;;) {
    const before = makeFile(file);
    const connection = new SqliteConnection(file, 0);
    const refusal = lock(connection);
    if (isSameFile(before, statSync(file, { bigint: true, throwIfNoEntry: false }))) {
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

/**
 * Creates the file with mode 0600 unless it exists. An existing file must not be opened: closing it
 * would release a lock that this process holds on it.
 */
function makeFile(file: string): BigIntStats | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (found !== undefined) return found;
  try {
    writeFileSync(file, '', { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return statSync(file, { bigint: true, throwIfNoEntry: false });
}

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
