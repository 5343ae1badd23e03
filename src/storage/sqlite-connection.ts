import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { StorageError } from './error.ts';
import type { Row, SqlValue } from './store.ts';

/** Statements kept prepared by one connection; beyond it they are all let go, which no real mix of queries reaches. */
const preparedMax = 512;

/** One connection to the embedded store: prepared statements by their text, SQLite's errors as ours. */
export class SqliteConnection {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  /** `busyTimeoutMs` is how long SQLite itself waits for another process's lock, blocking this one meanwhile. */
  constructor(file: string, busyTimeoutMs: number) {
    this.#database = translated(() => new DatabaseSync(file, { timeout: busyTimeoutMs }));
  }

  /** Runs statements that return nothing. */
  run(sql: string): void {
    translated(() => this.#database.exec(sql));
  }

  /** The rows of a statement; `$1`, `$2` … are bound by their number. */
  all(sql: string, values: readonly SqlValue[]): readonly Row[] {
    return translated(() => this.#prepare(sql).all(...values)) as readonly Row[];
  }

  /** The rows of a statement in batches, each read when it is asked for. */
  *batches(sql: string, values: readonly SqlValue[], batchRows: number): Generator<readonly Row[]> {
    const rows = translated(() => this.#prepare(sql).iterate(...values)) as Iterator<Row>;
    for (let batch: Row[] = []; ; batch = []) {
      translated(() => {
        for (let next = rows.next(); next.done !== true; next = rows.next())
          if (batch.push(next.value) === batchRows) break;
      });
      if (batch.length > 0) yield batch;
      if (batch.length < batchRows) return;
    }
  }

  /** Runs a writing statement and counts the rows it changed. */
  change(sql: string, values: readonly SqlValue[]): number {
    return Number(translated(() => this.#prepare(sql).run(...values)).changes);
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
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

function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toStorageError(error);
  }
}

/** SQLite's result codes (https://sqlite.org/rescode.html) by their low byte; any other error is a defect and stays as it is. */
function toStorageError(error: unknown): unknown {
  const { errcode, message } = error as { errcode?: number; message?: string };
  if (errcode === undefined) return error;
  const code = {
    5: 'BUSY',
    6: 'BUSY',
    8: 'UNUSABLE',
    10: 'UNAVAILABLE',
    11: 'UNUSABLE',
    13: 'FULL',
    14: 'UNUSABLE',
    26: 'UNUSABLE',
  } as const;
  const known = code[(errcode & 0xff) as keyof typeof code];
  return known === undefined ? error : new StorageError(known, `Cannot use the embedded store: ${message}`, error);
}
