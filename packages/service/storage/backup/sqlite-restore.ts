import { copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { StorageError } from '../error.ts';
import { listMigrations, pendingMigrations, selectMigrations, toAppliedMigration } from '../migrations.ts';
import { SqliteConnection } from '../sqlite/connection.ts';
import type { Row } from '../store.ts';
import { syncFile } from './sqlite-backup.ts';

/** Suffixes of the side files of an SQLite database; they are valid only together with it. */
const sideFiles = ['-wal', '-shm'];

/**
 * Throws `StorageError` unless a file is the database of an embedded store that this version can
 * migrate, without a trigger, view, table or index of others: a trigger would run with our
 * statements.
 */
export function requireStoreFile(file: string): void {
  const connection = new SqliteConnection(file, 0);
  try {
    const [table] = connection.all("select name from sqlite_master where name = 'schema_migration'", []);
    if (table === undefined)
      throw new StorageError('UNUSABLE', `Cannot use '${file}': it must be a SQLite database of subreport`);
    pendingMigrations(listMigrations('sqlite'), connection.all(selectMigrations, []).map(toAppliedMigration));
    const own = ownObjects();
    const foreign = connection.all(selectObjects, []).filter((row) => !own.has(identify(row)));
    if (foreign.length > 0) {
      const names = foreign.map(({ type, name }) => `${type} '${name}'`).join(', ');
      const rule = 'it must contain only what this version of subreport or an earlier one creates';
      throw new StorageError('UNUSABLE', `Cannot use '${file}': ${rule}: it contains the ${names}`);
    }
  } finally {
    connection.close();
  }
}

const selectObjects =
  "select type, name, sql from sqlite_master where type in ('trigger', 'view') or name not like 'sqlite!_%' escape '!'";

/** Identifies a database object: by its SQL if it has any, otherwise by its name. */
const identify = ({ type, name, sql }: Row): string =>
  type === 'trigger' || type === 'view' ? normalize(String(sql)) : `${type} ${name}`.toLowerCase();

const normalize = (sql: string): string =>
  sql
    .replaceAll(/^--.*\n/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/;$/, '')
    .toLowerCase();

/** The objects that any migration creates. */
function ownObjects(): ReadonlySet<string> {
  const statements = listMigrations('sqlite').flatMap((migration) => migration.statements.map(normalize));
  return new Set([
    'table schema_migration',
    ...statements.flatMap((sql) => {
      const [, type, name] = /^create (?:unique )?(table|index|trigger|view) (?:if not exists )?(\w+)/.exec(sql) ?? [];
      const [, renamed] = /^alter table \w+ rename to (\w+)/.exec(sql) ?? [];
      if (renamed !== undefined) return [`table ${renamed}`];
      return type === undefined ? [] : [type === 'trigger' || type === 'view' ? sql : `${type} ${name}`];
    }),
  ]);
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
