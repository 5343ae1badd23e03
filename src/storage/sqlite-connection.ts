import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { translated } from './sqlite-error.ts';
import type { Row, SqlValue } from './store.ts';

/** Statements kept prepared by one connection; beyond it they are all let go, which no real mix of queries reaches. */
const preparedMax = 512;

/** One connection to the embedded store: prepared statements by their text, SQLite's errors as ours. */
export class SqliteConnection {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  /** `busyTimeoutMs` is how long SQLite itself waits for another process's lock, blocking this one meanwhile. */
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

  /** Runs a writing statement and counts the rows it changed. */
  change(sql: string, values: readonly SqlValue[]): number {
    return Number(this.#translated(() => this.#prepare(sql).run(...values)).changes);
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
    const statement = this.#database.prepare(sql.replaceAll(/\$(\d+)/g, '?$1')); // $n would be a name to SQLite, ?n is a number
    this.#prepared.set(sql, statement);
    return statement;
  }
}
