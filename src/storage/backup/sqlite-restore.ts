import { copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { StorageError } from '../error.ts';
import { SqliteConnection } from '../sqlite/connection.ts';
import { syncFile } from './sync-file.ts';

/** Files that SQLite keeps beside a database; they belong to that database alone. */
const sideFiles = ['-wal', '-shm'];

/**
 * Throws `StorageError` unless a file is the database of an embedded store, of whatever version.
 */
export function requireStoreFile(file: string): void {
  const connection = new SqliteConnection(file, 0);
  try {
    const [table] = connection.all("select name from sqlite_master where name = 'schema_migration'", []);
    if (table === undefined)
      throw new StorageError('UNUSABLE', `Cannot use '${file}': it must be the database of an embedded store`);
  } finally {
    connection.close();
  }
}

/**
 * Brings all that was committed into the database file itself, and returns the newest revision of
 * its tenants (0 when it is damaged or empty). Throws `StorageError` `BUSY` when any connection is
 * open, also of a program that knows no lock of ours.
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
 * Puts a whole database file in the place of another, in one step that a crash cannot divide, and
 * keeps the replaced one as `aside` (an empty one is not kept). The caller has settled the replaced
 * one and keeps others out of it.
 */
export function replaceStore(file: string, restored: string, aside: string | undefined): void {
  syncFile(restored);
  if (aside !== undefined) keep(file, aside);
  for (const side of sideFiles.filter((each) => existsSync(file + each))) {
    // of a damaged store: a settled one has none
    if (aside !== undefined) keep(file + side, aside + side);
    rmSync(file + side); // the next one to open the file would take it for its own
  }
  renameSync(restored, file);
  syncFile(dirname(file));
}

/** Gives a file a second name; a copy where the file system has no hard links. */
function keep(file: string, aside: string): void {
  try {
    linkSync(file, aside);
  } catch {
    copyFileSync(file, aside);
    syncFile(aside);
  }
}
