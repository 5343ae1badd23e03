import { copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { StorageError } from '../error.ts';
import { SqliteConnection } from '../sqlite/connection.ts';
import { syncFile } from './sync-file.ts';

/** Suffixes of the side files of an SQLite database; they are valid only together with it. */
const sideFiles = ['-wal', '-shm'];

/** Throws `StorageError` unless a file is the database of an embedded store of any version. */
export function requireStoreFile(file: string): void {
  const connection = new SqliteConnection(file, 0);
  try {
    const [table] = connection.all("select name from sqlite_master where name = 'schema_migration'", []);
    if (table === undefined)
      throw new StorageError('UNUSABLE', `Cannot use '${file}': it must be a SQLite database of subreport`);
  } finally {
    connection.close();
  }
}

/**
 * Checkpoints the write-ahead log into the database file and returns the newest revision of its
 * tenants (0 if it is damaged or empty). Throws `StorageError` `BUSY` while any connection is open,
 * even from a program that does not use our lock.
 */
export function settleStore(file: string): number {
  const connection = new SqliteConnection(file, 0);
  try {
    connection.run('pragma locking_mode = exclusive; begin exclusive; commit; pragma wal_checkpoint(truncate)');
    const [table] = connection.all("select name from sqlite_master where name = 'tenant'", []);
    const [row] = table === undefined ? [] : connection.all('select max(revision) as revision from tenant', []);
    return Number(row?.revision ?? 0);
  } catch (error) {
    // damaged: it is about to be replaced
    if (error instanceof StorageError && error.code === 'UNUSABLE') return 0;
    throw error;
  } finally {
    connection.close();
  }
}

/**
 * Atomically replaces a database file with a complete one, and keeps the old file as `aside` (an
 * empty one is not kept). The caller has checkpointed the old file and holds its lock.
 */
export function replaceStore(file: string, restored: string, aside: string | undefined): void {
  syncFile(restored);
  if (aside !== undefined) keep(file, aside);
  for (const side of sideFiles.filter((each) => existsSync(file + each))) {
    // only a damaged store still has side files here
    if (aside !== undefined) keep(file + side, aside + side);
    // otherwise the next connection would treat them as belonging to the new file
    rmSync(file + side);
  }
  renameSync(restored, file);
  syncFile(dirname(file));
}

/** Gives a file a second name; copies it if the file system has no hard links. */
function keep(file: string, aside: string): void {
  try {
    linkSync(file, aside);
  } catch {
    copyFileSync(file, aside);
    syncFile(aside);
  }
}
