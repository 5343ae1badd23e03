import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { inStatement } from '../../tracing/statement-span.ts';
import { StorageError } from '../error.ts';
import type { Row, SqlValue } from '../store.ts';
import { translated } from './error.ts';

/**
 * Maximum prepared statements per connection. Beyond it, all are discarded; no real mix of queries
 * gets there.
 */
const preparedMax = 512;

/**
 * Bytes of the write-ahead log that are kept for reuse: two checkpoints of the writer thread. While
 * a snapshot is open, the log can only grow; the first write after it was copied into the database
 * file cuts it to this size.
 */
export const logBytesKept = 64 * 2 ** 20;

/**
 * Settings of a connection that writes. `fast` overwrites deleted content only in pages that are
 * written anyway.
 */
export const writerPragmas = `pragma synchronous = full; pragma foreign_keys = on; pragma secure_delete = fast; pragma journal_size_limit = ${logBytesKept}`;

/** Time limit of opening a connection while another process holds a lock, in milliseconds. */
export const sqliteOpenWaitMs = 5_000;

/** The next pause before retrying to take a lock that another process holds, in milliseconds. */
export const nextWaitMs = (waitMs: number): number => Math.min(waitMs * 2, 20);

const sleeping = new Int32Array(new SharedArrayBuffer(4));

/** Some values of one column, each followed by a line feed. */
interface Lines {
  readonly rows: number;
  readonly lines: string;
}

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

  /**
   * Switches the file to the write-ahead log. SQLite does not wait for a process that does the
   * same, or writes the first pages: it must be tried again.
   */
  useLog(): void {
    const deadline = performance.now() + sqliteOpenWaitMs;
    for (let waitMs = 1; !this.#runIfFree('pragma journal_mode = wal', deadline); waitMs = nextWaitMs(waitMs))
      Atomics.wait(sleeping, 0, 0, waitMs);
  }

  /** Runs SQL that returns no rows. */
  run(sql: string): void {
    this.#translated(() => this.#database.exec(sql));
  }

  /** Returns the rows of a statement; `$1`, `$2` … are bound by number. */
  all(sql: string, values: readonly SqlValue[]): readonly Row[] {
    const read = () => this.#translated(() => this.#prepare(sql).all(...values)) as readonly Row[];
    return sql.startsWith('pragma') ? read() : inStatement('sqlite', sql, read);
  }

  /** Returns the first row of a statement, or `undefined` if it has none. */
  first(sql: string, values: readonly SqlValue[]): Row | undefined {
    return inStatement('sqlite', sql, () => this.#translated(() => this.#prepare(sql).get(...values))) as
      | Row
      | undefined;
  }

  /** Yields the rows of a statement in batches, each read on demand. */
  *batches(sql: string, values: readonly SqlValue[], batchRows: number): Generator<readonly Row[]> {
    const rows = this.#translated(() => this.#prepare(sql).iterate(...values)) as Iterator<Row>;
    try {
      for (let batch: Row[] = []; ; batch = []) {
        this.#translated(() => {
          for (let next = rows.next(); next.done !== true; next = rows.next())
            if (batch.push(next.value) === batchRows) break;
        });
        if (batch.length > 0) yield batch;
        if (batch.length < batchRows) return;
      }
    } finally {
      close(rows);
    }
  }

  /**
   * Yields the values of a statement that selects one column of text, each followed by a line feed.
   * An SQL function collects them, and the statement returns only the last row of each batch: that
   * takes two thirds of the time of returning each row. The limit keeps SQLite from merging both
   * queries, but makes sorting take three times as long, so a statement that must sort returns each
   * row.
   */
  *lineBatches(sql: string, values: readonly SqlValue[], batchRows: number): Generator<Lines> {
    let [rows, lines] = [0, ''];
    const collect = (value: SqlValue): number => {
      lines += `${value}\n`;
      rows += 1;
      return Number(rows === batchRows);
    };
    const isSorted = this.all(`explain query plan ${sql}`, values).some(({ detail }) => sorting.test(String(detail)));
    const collected = `with line (value) as (${sql} limit -1) select null from line where collect(value)`;
    const returned = this.#translated(() => {
      if (!isSorted) this.define('collect', collect);
      const statement = this.#database.prepare(numbered(isSorted ? sql : collected));
      statement.setReturnArrays(true);
      return statement.iterate(...values) as Iterator<unknown> as Iterator<[SqlValue]>;
    });
    const readBatch = (): void => {
      for (let next = returned.next(); next.done !== true; next = returned.next())
        if (!isSorted || collect(next.value[0]) === 1) return;
    };
    try {
      for (let isFull = true; isFull; [rows, lines] = [0, '']) {
        this.#translated(readBatch);
        isFull = rows === batchRows;
        if (rows > 0) yield { rows, lines };
      }
    } finally {
      lines = ''; // the function stays defined
      close(returned);
    }
  }

  /** Defines an SQL function; SQLite calls it once per row. */
  define(name: string, work: (value: SqlValue) => SqlValue): void {
    this.#database.function(name, { deterministic: false, directOnly: true }, work as (value: unknown) => SqlValue);
  }

  change(sql: string, values: readonly SqlValue[]): number {
    const { changes } = inStatement('sqlite', sql, () => this.#translated(() => this.#prepare(sql).run(...values)));
    return Number(changes);
  }

  /** Begins a writing transaction, as `#runIfFree`. */
  beginWriting(deadline: number): boolean {
    return this.#runIfFree('begin immediate', deadline);
  }

  /**
   * Runs SQL and returns whether its lock was free. Throws if it was not and the deadline (a time
   * of `performance.now()`) has passed.
   */
  #runIfFree(sql: string, deadline: number): boolean {
    try {
      this.run(sql);
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

  /** The same for work in several steps. */
  async commitAfterAll<T>(work: () => Promise<T>): Promise<T> {
    const result = await work().catch((error: unknown) => {
      this.#rollBack();
      throw error;
    });
    return this.commitAfter(() => result);
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

/** The steps of a query plan that sort rows. */
const sorting = /^USE TEMP B-TREE/;

/**
 * Ends an iteration: an unfinished statement keeps its snapshot even after a rollback, for all
 * later statements of the connection.
 */
const close = (rows: Iterator<unknown>): unknown => rows.return?.();

/**
 * SQLite reads $n as a named parameter and ?n as a numbered one. With `limit ?n`, it plans the
 * statement each time it runs, which takes longer than finding a page; with `limit +?n`, once. It
 * has no arrays, but it compares with the values of one in JSON (`equalsAny`), and with those of a
 * query.
 */
export const numbered = (sql: string): string =>
  sql
    .replaceAll(/\$(\d+)/g, '?$1')
    .replaceAll(/\blimit \?/gi, 'limit +?')
    .replaceAll(
      /= any\((?:array\(select json_array_elements_text\()?(\?\d+)::(?:json\)\)|text\[\])\)/g,
      'in (select value from json_each($1))',
    )
    .replaceAll(/= any\(array\((select [^()]*)\)\)/g, 'in ($1)');
