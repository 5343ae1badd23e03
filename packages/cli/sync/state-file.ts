import { accessSync, chmodSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { createFolders } from '../../terminal/create-folders.ts';
import { isDiskFull, UsageError } from '../../terminal/error.ts';

/** What a state file is for. */
export interface StateKind {
  /** `pragma application_id`, so that no other database is taken for a state: 1 to 2^31 - 1. */
  readonly applicationId: number;
  /** Statements from each version of the schema to the next one. Never edited after a release. */
  readonly migrations: readonly string[];
}

/** Another process uses the state file, its disk is full or fails, or it cannot be one. */
export class StateFileError extends Error {
  override readonly name = 'StateFileError';
  readonly code: 'BUSY' | 'DISK' | 'UNUSABLE';

  constructor(code: StateFileError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether another connection holds a lock: SQLITE_BUSY is the low byte of the extended codes. */
export const isSqliteBusy = (error: unknown): boolean => ((error as { errcode?: number }).errcode ?? 0) % 256 === 5;

/** Whether the disk of a database is full or fails: SQLITE_FULL or SQLITE_IOERR. */
export const isDiskFault = (error: unknown): boolean =>
  [13, 10].includes(((error as { errcode?: number }).errcode ?? 0) % 256);

/** What a database of SQLite needs of its disk; `message` says what it did not have. */
export const diskRule = (message: string): string => `its disk must have room, and no fault: ${message}`;

/**
 * Opens a database file; statements wait for its locks, at most `timeout` milliseconds. The module
 * is loaded here because older versions of Node.js, which run all other commands, lack it.
 */
export function openDatabase(file: string, timeout: number): DatabaseSync {
  const sqlite = process.getBuiltinModule?.('node:sqlite');
  if (sqlite !== undefined) return new sqlite.DatabaseSync(file, { timeout });
  throw new UsageError(
    `Cannot open '${file}': Node.js must be version 22.13 or newer: current value is ${process.versions.node}`,
  );
}

/** How long to wait for a lock, in milliseconds: a process that reads holds it for less. */
const waitMs = 1_000;

/**
 * The state of a command between its runs, in a file of SQLite that survives kill -9 at any moment.
 * One process at a time writes it; others may read it meanwhile.
 */
export class StateFile {
  readonly #database: DatabaseSync;
  /** Its exclusive lock is held while this process runs; readers of the state do not need it. */
  readonly #lock: DatabaseSync | undefined;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(database: DatabaseSync, lock?: DatabaseSync) {
    this.#database = database;
    this.#lock = lock;
  }

  /** Opens the file for this process alone; creates it if necessary. Throws `StateFileError`. */
  static open(file: string, kind: StateKind): StateFile {
    const opened: DatabaseSync[] = [];
    const open = (path: string, timeout: number): DatabaseSync => {
      const database = openDatabase(path, timeout);
      opened.push(database);
      return database;
    };
    try {
      requireFolder(file);
      createFolders(dirname(file));
      const path = existsSync(file) ? realpathSync(file) : file;
      const database = open(path, waitMs);
      versionOf(database, kind);
      const lock = open(`${path}-lock`, 0);
      lock.exec('begin exclusive');
      migrate(database, kind);
      chmodSync(path, 0o600);
      return new StateFile(database, lock);
    } catch (error) {
      for (const database of opened.reverse()) database.close();
      throw toStateFileError(error);
    }
  }

  /** Reads the file, and writes nothing; `undefined` if no run has created it. */
  static read<T>(file: string, kind: StateKind, work: (state: StateFile) => T): T | undefined {
    let database: DatabaseSync | undefined;
    try {
      requireFolder(file);
      if (!existsSync(file) || statSync(file).size === 0) return undefined;
      // a connection that is read-only would leave files of the write-ahead log behind
      database = openDatabase(file, waitMs);
      database.exec('pragma query_only = on');
      if (versionOf(database, kind) < kind.migrations.length) return undefined;
      return work(new StateFile(database));
    } catch (error) {
      throw toStateFileError(error);
    } finally {
      database?.close();
    }
  }

  /** Runs a statement, and returns its rows. Throws `StateFileError`. */
  all(sql: string, ...values: readonly SQLInputValue[]): readonly Record<string, unknown>[] {
    return withStateFileError(() => {
      const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
      this.#statements.set(sql, statement);
      return statement.all(...values);
    });
  }

  /** Runs `work` in a transaction. Throws `StateFileError`. */
  transact<T>(work: () => T): T {
    this.#run('begin immediate');
    try {
      const result = work();
      this.#run('commit');
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** Runs `work`, which may wait, in a transaction; no other one may begin meanwhile. */
  async transactSlowly<T>(work: () => Promise<T>): Promise<T> {
    this.#run('begin immediate');
    try {
      const result = await work();
      this.#run('commit');
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #run(sql: string): void {
    withStateFileError(() => this.#database.exec(sql));
  }

  #rollBack(): void {
    try {
      this.#database.exec('rollback');
    } catch {
      // SQLite has done so itself, as when its disk is full
    }
  }

  close(): void {
    this.#database.close(); // rolls back
    this.#lock?.close();
  }
}

function migrate(database: DatabaseSync, kind: StateKind): void {
  const version = versionOf(database, kind);
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  const { applicationId, migrations } = kind;
  if (version === migrations.length) return;
  database.exec(
    `begin immediate; ${migrations.slice(version).join('')}
    pragma application_id = ${applicationId}; pragma user_version = ${migrations.length}; commit`,
  );
}

/** The version of the schema; 0 if it is empty. Throws if it is of another kind, or newer. */
function versionOf(database: DatabaseSync, { applicationId, migrations }: StateKind): number {
  if (database.prepare('select 1 from sqlite_schema limit 1').get() === undefined) return 0;
  const value = (name: string): number => Number(Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]);
  if (value('application_id') !== applicationId) throw new StateFileError('UNUSABLE', 'a database of something else');
  const version = value('user_version');
  if (version > migrations.length) throw new StateFileError('UNUSABLE', 'the state of a later version of subreport');
  return version;
}

/** Throws unless the nearest existing folder above a file can be written. */
function requireFolder(file: string): void {
  let folder = dirname(resolve(file));
  while (!existsSync(folder)) folder = dirname(folder);
  accessSync(`${folder}/.`, constants.W_OK); // with the dot, a file fails
}

function withStateFileError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toStateFileError(error);
  }
}

/** An error of SQLite or of a system call as `StateFileError`; others unchanged. */
function toStateFileError(error: unknown): unknown {
  const { errcode, syscall, message } = error as { errcode?: number; syscall?: string; message: string };
  if (errcode === undefined && syscall === undefined) return error;
  const other = isDiskFault(error) || isDiskFull(error) ? 'DISK' : 'UNUSABLE';
  return new StateFileError(isSqliteBusy(error) ? 'BUSY' : other, message, { cause: error });
}
