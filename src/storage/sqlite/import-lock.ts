import { createHash } from 'node:crypto';
import { type BigIntStats, rmSync, statSync, writeFileSync } from 'node:fs';
import { StorageError } from '../error.ts';
import type { ImportLock, TenantId } from '../store.ts';
import { SqliteConnection } from './connection.ts';

/**
 * Takes the right to import into a tenant of the embedded store: an exclusive lock on an empty
 * database of its own beside the store, which the operating system releases when the process ends.
 * `undefined` when another process has it.
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

/** Locks the whole database; what kept it from that, if anything did. */
function lock(connection: SqliteConnection): unknown {
  try {
    connection.run('begin exclusive');
    return undefined;
  } catch (error) {
    return error;
  }
}

/**
 * Makes the file, for its user alone, unless it is there. It must not be opened: closing it again
 * would end a lock that this process has on it.
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
 * Whether two looks at a name saw the same file; a new file may get the number of a removed one,
 * not its time of birth too.
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
      // while it is locked; Windows keeps the name of an open file
      if (process.platform !== 'win32') rmSync(file, { force: true });
      connection.close();
    },
  };
}
