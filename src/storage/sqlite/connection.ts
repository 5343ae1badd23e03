import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { inStatement } from '../../tracing/statement-span.ts';
import { StorageError } from '../error.ts';
import type { Row, SqlValue } from '../store.ts';
import { translated } from './error.ts';
import { tracedSqlite } from './traced-sqlite.ts';

/**
 * Maximum prepared statements per connection. Beyond it, all are discarded; no real mix of queries
 * gets there.
 */
const preparedMax = 512;

/**
 * Settings of a connection that writes. `fast` overwrites deleted content only in pages that are
 * written anyway.
 */
export const writerPragmas = 'pragma synchronous = full; pragma foreign_keys = on; pragma secure_delete = fast';

/**
 * A connection to the embedded store: caches prepared statements by their SQL and translates
 * SQLite's errors to `StorageError`.
 */
export class SqliteConnection {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  /**
   * @param busyTimeoutMs how long SQLite waits for another process's lock; it blocks this thread
   * meanwhile
   */
  constructor(file: string, busyTimeoutMs: number) {
    this.#file = file;
    this.#database = this.#translated(() => new DatabaseSync(file, { timeout: busyTimeoutMs }));
  }

  /** Runs SQL that returns no rows. */
  run(sql: string): void {
    this.#translated(() => this.#database.exec(sql));
  }

  /** Returns the rows of a statement; `$1`, `$2` … are bound by number. */
  all(sql: string, values: readonly SqlValue[]): readonly Row[] {
    const read = () => this.#translated(() => this.#prepare(sql).all(...values)) as readonly Row[];
    return sql.startsWith('pragma') ? read() : inStatement(tracedSqlite, sql, read);
  }

  /** Returns the first row of a statement, or `undefined` if it has none. */
  first(sql: string, values: readonly SqlValue[]): Row | undefined {
    return inStatement(tracedSqlite, sql, () => this.#translated(() => this.#prepare(sql).get(...values))) as
      | Row
      | undefined;
  }

  /** Yields the rows of a statement in batches, each read on demand. */
  batches(sql: string, values: readonly SqlValue[], batchRows: number): Generator<readonly Row[]> {
    return this.#inBatches(() => this.#prepare(sql).iterate(...values) as Iterator<Row>, batchRows);
  }

  /**
   * The same with each row as an array of its values, which takes half the time of rows as objects.
   */
  arrayBatches(sql: string, values: readonly SqlValue[], batchRows: number): Generator<readonly SqlValue[][]> {
    const open = (): Iterator<SqlValue[]> => {
      const statement = this.#database.prepare(numbered(sql));
      statement.setReturnArrays(true);
      return statement.iterate(...values) as Iterator<unknown> as Iterator<SqlValue[]>;
    };
    return this.#inBatches(open, batchRows);
  }

  *#inBatches<T>(open: () => Iterator<T>, batchRows: number): Generator<readonly T[]> {
    const rows = this.#translated(open);
    try {
      for (let batch: T[] = []; ; batch = []) {
        this.#translated(() => {
          for (let next = rows.next(); next.done !== true; next = rows.next())
            if (batch.push(next.value) === batchRows) break;
        });
        if (batch.length > 0) yield batch;
        if (batch.length < batchRows) return;
      }
    } finally {
      // An unfinished statement keeps its snapshot even after a rollback, for all later statements
      // of the connection.
      rows.return?.();
    }
  }

  /** Defines an SQL function; SQLite calls it once per row. */
  define(name: string, work: () => SqlValue): void {
    this.#database.function(name, { deterministic: false, directOnly: true }, work);
  }

  /** Runs a writing statement and returns the number of rows it changed. */
  change(sql: string, values: readonly SqlValue[]): number {
    const { changes } = inStatement(tracedSqlite, sql, () => this.#translated(() => this.#prepare(sql).run(...values)));
    return Number(changes);
  }

  /**
   * Begins a writing transaction and returns whether the lock was free. Throws if it was not and
   * the deadline (a time of `performance.now()`) has passed.
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
   * Runs `work` inside the transaction that has begun and commits it; rolls back if either throws.
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
      // SQLite may already have rolled back (when the disk is full, for example); the first error
      // is the one to report
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
    const statement = this.#database.prepare(numbered(sql));
    this.#prepared.set(sql, statement);
    return statement;
  }
}

/**
 * SQLite reads $n as a named parameter and ?n as a numbered one. With `limit ?n`, it plans the
 * statement each time it runs, which takes longer than finding a page; with `limit +?n`, once.
 */
export const numbered = (sql: string): string =>
  sql.replaceAll(/\$(\d+)/g, '?$1').replaceAll(/\blimit \?/gi, 'limit +?');
