import { SqliteConnection } from './connection.ts';
import { sqliteOpenWaitMs } from './read-request.ts';

/**
 * Maximum connections. Each holds one snapshot, and all run on the main thread, so more would only
 * wait for each other.
 */
const connectionsMax = 8;

/** The connections for reads on the main thread: reads that cost no more than a page. */
export class SqlitePageReaders {
  readonly #file: string;
  readonly #idle: SqliteConnection[] = [];
  readonly #waiting: ((connection: SqliteConnection) => void)[] = [];
  #count = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Runs work with a connection that nothing else uses meanwhile. */
  async use<T>(work: (connection: SqliteConnection) => T | Promise<T>): Promise<T> {
    const connection = await this.#take();
    try {
      return await work(connection);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle.push(connection);
      else next(connection);
    }
  }

  /**
   * Runs work with a connection whose statements share one snapshot, taken by the first of them.
   */
  useSnapshot<T>(work: (connection: SqliteConnection) => Promise<T>): Promise<T> {
    return this.use(async (connection) => {
      connection.run('begin');
      try {
        return await work(connection);
      } finally {
        connection.run('rollback');
      }
    });
  }

  close(): void {
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  async #take(): Promise<SqliteConnection> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#count >= connectionsMax) return new Promise((resolve) => this.#waiting.push(resolve));
    const connection = new SqliteConnection(this.#file, sqliteOpenWaitMs);
    this.#count += 1;
    connection.run('pragma query_only = on');
    return connection;
  }
}
