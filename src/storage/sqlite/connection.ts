import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { StorageError } from '../error.ts';
import type { Row, SqlValue } from '../store.ts';
import { translated } from './error.ts';

/**
 * Statements kept prepared by one connection; beyond it they are all let go, which no real mix of
 * queries reaches.
 */
const preparedMax = 512;

/**
 * What a connection that writes begins with. Removed rows are overwritten where their page is
 * written anyway.
 */
export const writerPragmas = 'pragma synchronous = full; pragma foreign_keys = on; pragma secure_delete = fast';

/**
 * One connection to the embedded store: prepared statements by their text, SQLite's errors as ours.
 */
export class SqliteConnection {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  /**
   * `busyTimeoutMs` is how long SQLite itself waits for another process's lock, blocking this one
   * meanwhile.
   */
  constructor(file: string, busyTimeoutMs: number) {
    this.#file = file;
    this.#database = this.#translated(() => new DatabaseSync(file, { timeout: busyTimeoutMs }));
  }

  /** Runs statements that return nothing. */
  run(sql: string): void {
    this.#translated(() => this.#database.exec(sql));
  }

  /** The rows of a statement; `$1`, `$2` … are bound by their number. */
  all(sql: string, values: readonly SqlValue[]): readonly Row[] {
    return this.#translated(() => this.#prepare(sql).all(...values)) as readonly Row[];
  }

  /** The rows of a statement in batches, each read when it is asked for. */
  *batches(sql: string, values: readonly SqlValue[], batchRows: number): Generator<readonly Row[]> {
    const rows = this.#translated(() => this.#prepare(sql).iterate(...values)) as Iterator<Row>;
    for (let batch: Row[] = []; ; batch = []) {
      this.#translated(() => {
        for (let next = rows.next(); next.done !== true; next = rows.next())
          if (batch.push(next.value) === batchRows) break;
      });
      if (batch.length > 0) yield batch;
      if (batch.length < batchRows) return;
    }
  }

  /** Makes a function that statements can call; it is called anew for each row. */
  define(name: string, work: () => SqlValue): void {
    this.#database.function(name, { deterministic: false, directOnly: true }, work);
  }

  /** Runs a writing statement and counts the rows it changed. */
  change(sql: string, values: readonly SqlValue[]): number {
    return Number(this.#translated(() => this.#prepare(sql).run(...values)).changes);
  }

  /**
   * Begins a writing transaction and tells whether the lock was free; throws when it is not and the
   * deadline, a time of `performance.now()`, has passed.
   */
  beginWriting(deadline: number): boolean {
    try {
      this.run('begin immediate');
      return true;
    } catch (error) {
      const isBusy = error instanceof StorageError && error.code === 'BUSY';
      if (!isBusy || performance.now() > deadline) throw error;
      return false;
    }
  }

  /**
   * Runs the work of the transaction that has begun, and commits it; rolls it back when either
   * throws.
   */
  commitAfter<T>(work: () => T): T {
    try {
      const result = work();
      this.run('commit');
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #rollBack(): void {
    try {
      this.run('rollback');
    } catch {
      // SQLite has rolled back by itself already (a full disk, say); the error that led here is the
      // one to report
    }
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
  }

  #translated<T>(work: () => T): T {
    return translated(work, this.#file);
  }

  #prepare(sql: string): StatementSync {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    if (this.#prepared.size >= preparedMax) this.#prepared.clear();
    // $n would be a name to SQLite, ?n is a number
    const statement = this.#database.prepare(sql.replaceAll(/\$(\d+)/g, '?$1'));
    this.#prepared.set(sql, statement);
    return statement;
  }
}
