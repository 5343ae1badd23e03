import { setTimeout as sleep } from 'node:timers/promises';
import type { SqliteConnection } from './connection.ts';
import { SqliteThread } from './thread.ts';
import { nextWaitMs, type TenantChange, type WriteRequest, type WriterStart } from './write-request.ts';

/**
 * Writes of the main thread after which its thread copies the write-ahead log into the file: some
 * megabytes, which may take tens of milliseconds.
 */
const checkpointWrites = 250;

const threadUrl = new URL('./writer-thread.ts', import.meta.url);

/**
 * The writes of one process, one after another in the order of their calls. Those of a few rows run
 * on the main thread; changes of subscriptions, which take as long as there are rows, on a thread
 * that is started for the first of them. SQLite itself never waits on the main thread for another
 * process's lock, as that would hold everything.
 */
export class SqliteWriter {
  readonly #connection: SqliteConnection;
  readonly #start: WriterStart;
  #thread: SqliteThread<WriteRequest> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #writes = 0;

  constructor(file: string, connection: SqliteConnection) {
    this.#start = { file };
    this.#connection = connection;
    // a small write would copy what a large one left in the log
    connection.run('pragma wal_autocheckpoint = 0');
  }

  /**
   * Runs `work`, which awaits nothing, in one transaction on the main thread. `deadline` is a time
   * of `performance.now()`.
   */
  write<T>(work: () => T, deadline: number): Promise<T> {
    return this.#inTurn(async () => {
      for (let waitMs = 1; !this.#connection.beginWriting(deadline); waitMs = nextWaitMs(waitMs)) await sleep(waitMs);
      const result = this.#connection.commitAfter(work);
      this.#writes += 1;
      if (this.#writes % checkpointWrites === 0) this.#checkpoint();
      return result;
    });
  }

  /**
   * Makes a change of subscriptions on the thread, in one transaction, durable when it resolves;
   * the caller knows what type its result has.
   */
  change<T>(change: TenantChange, deadline: number): Promise<T> {
    return this.#inTurn(() => this.#ask({ ...change, waitMs: Math.max(0, deadline - performance.now()) }));
  }

  /** Closes once the writes under way have ended. */
  async close(): Promise<void> {
    await this.#last;
    await this.#thread?.end();
    this.#connection.close();
  }

  /** Needs no turn: SQLite checkpoints beside writes. */
  #checkpoint(): void {
    // the next one copies what this one has not
    this.#ask({ kind: 'checkpoint' }).catch(() => undefined);
  }

  #ask<T>(request: WriteRequest): Promise<T> {
    if (this.#thread === undefined || this.#thread.hasEnded) this.#thread = new SqliteThread(threadUrl, this.#start);
    return this.#thread.ask(request);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined); // told to its own caller
    return result;
  }
}
