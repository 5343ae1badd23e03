import type { Row, SqlValue } from '../store.ts';
import { SqliteConnection, sqliteOpenWaitMs } from './connection.ts';

/**
 * Maximum connections for work that waits. Each holds one snapshot, and all run on the main thread,
 * so more would only wait for each other.
 */
const connectionsMax = 8;

/** The connections for reads on the main thread: reads that cost no more than a page. */
export class SqlitePageReaders {
  readonly #file: string;
  readonly #idle: SqliteConnection[] = [];
  readonly #waiting: ((connection: SqliteConnection) => void)[] = [];
  #count = 0;
  #atOnce: SqliteConnection | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** Returns the rows of a statement. It runs without waiting, so one connection suffices. */
  readAtOnce({ sql, values }: { readonly sql: string; readonly values: readonly SqlValue[] }): readonly Row[] {
    this.#atOnce ??= this.#open();
    return this.#atOnce.all(sql, values);
  }

  /**
   * Runs work with a connection whose statements share one snapshot, taken by the first of them.
   * Nothing else uses it meanwhile.
   */
  async useSnapshot<T>(work: (connection: SqliteConnection) => Promise<T>): Promise<T> {
    const connection = await this.#take();
    try {
      connection.run('begin');
      try {
        return await work(connection);
      } finally {
        connection.run('rollback');
      }
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle.push(connection);
      else next(connection);
    }
  }

  close(): void {
    this.#atOnce?.close();
    this.#atOnce = undefined;
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  async #take(): Promise<SqliteConnection> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#count >= connectionsMax) return new Promise((resolve) => this.#waiting.push(resolve));
    const connection = this.#open();
    this.#count += 1;
    return connection;
  }

  #open(): SqliteConnection {
    const connection = new SqliteConnection(this.#file, sqliteOpenWaitMs);
    connection.run('pragma query_only = on');
    return connection;
  }
}
