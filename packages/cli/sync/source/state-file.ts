import { accessSync, chmodSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { createFolders } from '../../../terminal/create-folders.ts';
import { SyncError } from './error.ts';
import { type FileSentences, onFile, openDatabase } from './sqlite-file.ts';

/** What a state file is for. */
export interface StateKind {
  /** `pragma application_id`, so that no other database is taken for a state: 1 to 2^31 - 1. */
  readonly applicationId: number;
  /** Creates its tables. */
  readonly schema: string;
  /** How sentences begin: "Cannot use". */
  readonly cannot: string;
  /** Which syncs write such a file, such as "of this webhook". */
  readonly writers: string;
}

/** `pragma user_version` of the schemas; a later version of subreport may have another one. */
const schemaVersion = 1;

/** How long to wait for a lock, in milliseconds: a process that reads holds it for less. */
const waitMs = 1_000;

/**
 * The state of a command between its runs, in a file of SQLite that survives kill -9 at any moment.
 * One process at a time writes it; others may read it meanwhile. Methods throw `SyncError` if the
 * file fails.
 */
export class StateFile {
  readonly #database: DatabaseSync;
  readonly #sentences: FileSentences;
  /** Its exclusive lock is held while this process runs; readers of the state do not need it. */
  readonly #lock: DatabaseSync | undefined;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(database: DatabaseSync, sentences: FileSentences, lock?: DatabaseSync) {
    this.#database = database;
    this.#sentences = sentences;
    this.#lock = lock;
  }

  /** Opens the file for this process alone; creates it if necessary. */
  static open(file: string, kind: StateKind): StateFile {
    const sentences = sentencesOf(file, kind);
    const opened: DatabaseSync[] = [];
    try {
      return onFile(sentences, () => {
        requireFolder(file);
        createFolders(dirname(file));
        const path = existsSync(file) ? realpathSync(file) : file;
        const database = openDatabase(path, waitMs);
        opened.push(database);
        const isEmpty = !hasState(database, kind, sentences);
        const lock = openDatabase(`${path}-lock`, 0);
        opened.push(lock);
        lock.exec('begin exclusive');
        database.exec('pragma journal_mode = wal; pragma synchronous = full');
        if (isEmpty && !hasState(database, kind, sentences)) createState(database, kind);
        chmodSync(path, 0o600);
        return new StateFile(database, sentences, lock);
      });
    } catch (error) {
      for (const database of opened.reverse()) database.close();
      throw error;
    }
  }

  /** Reads the file, and writes nothing; `undefined` if no run has created it. */
  static read<T>(file: string, kind: StateKind, work: (state: StateFile) => T): T | undefined {
    const sentences = sentencesOf(file, kind);
    let database: DatabaseSync | undefined;
    try {
      return onFile(sentences, () => {
        requireFolder(file);
        if (!existsSync(file) || statSync(file).size === 0) return undefined;
        // a connection that is read-only would leave files of the write-ahead log behind
        database = openDatabase(file, waitMs);
        database.exec('pragma query_only = on');
        return hasState(database, kind, sentences) ? work(new StateFile(database, sentences)) : undefined;
      });
    } finally {
      database?.close();
    }
  }

  /** Runs a statement, and returns its rows. */
  all(sql: string, ...values: readonly SQLInputValue[]): readonly Record<string, unknown>[] {
    return onFile(this.#sentences, () => {
      const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
      this.#statements.set(sql, statement);
      return statement.all(...values);
    });
  }

  /** Runs `work`, which may wait, in a transaction; no other one may begin meanwhile. */
  async transact<T>(work: () => Promise<T> | T): Promise<T> {
    this.#run('begin immediate');
    try {
      const result = await work();
      this.#run('commit');
      return result;
    } catch (error) {
      // SQLite has done so itself where its disk is full
      if (this.#database.isTransaction) this.#run('rollback');
      throw error;
    }
  }

  #run(sql: string): void {
    onFile(this.#sentences, () => this.#database.exec(sql));
  }

  close(): void {
    this.#database.close(); // rolls back
    this.#lock?.close();
  }
}

const sentencesOf = (file: string, { cannot, writers }: StateKind): FileSentences => ({
  cannot: `${cannot} '${file}'`,
  busy: `no other sync ${writers} may be running`,
  rule: `it must be a state file that a sync ${writers} wrote, or not exist`,
});

function createState(database: DatabaseSync, { applicationId, schema }: StateKind): void {
  database.exec(
    `begin immediate; ${schema}
    pragma application_id = ${applicationId}; pragma user_version = ${schemaVersion}; commit`,
  );
}

/** Whether a database has the state of a kind; `false` if it is empty. Throws if it has another. */
function hasState(database: DatabaseSync, { applicationId }: StateKind, { cannot, rule }: FileSentences): boolean {
  if (database.prepare('select 1 from sqlite_schema limit 1').get() === undefined) return false;
  const value = (name: string): number => Number(Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]);
  const isOther = value('application_id') !== applicationId;
  if (!isOther && value('user_version') === schemaVersion) return true;
  const found = isOther ? 'a database of something else' : 'the state of a later version of subreport';
  throw new SyncError('DESTINATION_INVALID', `${cannot}: ${rule}: current value is: ${found}`);
}

/** Throws unless the nearest existing folder above a file can be written. */
function requireFolder(file: string): void {
  let folder = dirname(resolve(file));
  while (!existsSync(folder)) folder = dirname(folder);
  accessSync(`${folder}/.`, constants.W_OK); // with the dot, a file fails
}
