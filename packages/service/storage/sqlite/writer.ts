import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangeOptions } from '../commit/commit-change.ts';
import type { TenantChange } from '../commit/tenant-change.ts';
import { before } from '../deadline.ts';
import { logBytesKept, nextWaitMs, type SqliteConnection } from './connection.ts';
import { SqliteThread } from './thread.ts';
import type { WriteRequest, WriterStart } from './writer-thread.ts';

/**
 * Number of writes on the main thread after which the writer thread copies the write-ahead log into
 * the database file: some megabytes, which may take tens of milliseconds.
 */
const checkpointWrites = 250;

const threadUrl = new URL('./writer-thread.ts', import.meta.url);

/**
 * The writes of one process, one after another in the order of the calls. Small writes run on the
 * main thread; changes of subscriptions, whose time grows with their rows, run on a thread that is
 * started on first use. SQLite itself never waits for another process's lock on the main thread, as
 * that would block every request.
 */
export class SqliteWriter {
  readonly #connection: SqliteConnection;
  readonly #start: WriterStart;
  #thread: SqliteThread<WriteRequest> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #writes = 0;
  #isCheckpointing = false;

  constructor(file: string, connection: SqliteConnection) {
    this.#start = { file };
    this.#connection = connection;
    // otherwise a small write would copy the log that a large one left
    connection.run('pragma wal_autocheckpoint = 0');
  }

  /**
   * Runs the synchronous `work` in one transaction on the main thread.
   *
   * @param deadline a time of `performance.now()`
   */
  write<T>(work: () => T, deadline: number): Promise<T> {
    return this.#inTurn(async () => {
      await this.#begin(deadline);
      const result = this.#connection.commitAfter(work);
      this.#noteWrite();
      return result;
    });
  }

  /** The same for work in several steps; `giveUp` is called if it has not ended by the deadline. */
  transact<T>(work: () => Promise<T>, deadline: number, giveUp: () => void): Promise<T> {
    return this.#inTurn(async () => {
      await this.#begin(deadline);
      const result = await this.#connection.commitAfterAll(() => before(deadline, work(), giveUp));
      this.#noteWrite();
      return result;
    });
  }

  /**
   * Runs a change of subscriptions on the thread, in one transaction that is durable when the
   * promise resolves. The caller knows the type of the result.
   */
  change<T>(change: TenantChange & ChangeOptions, deadline: number): Promise<T> {
    return this.#inTurn(() => this.#request({ ...change, waitMs: Math.max(0, deadline - performance.now()) }));
  }

  /** Closes after pending writes have finished. */
  async close(): Promise<void> {
    await this.#last;
    await this.#thread?.end();
    this.#connection.close();
  }

  async #begin(deadline: number): Promise<void> {
    for (let waitMs = 1; !this.#connection.beginWriting(deadline); waitMs = nextWaitMs(waitMs)) await sleep(waitMs);
  }

  #noteWrite(): void {
    this.#writes += 1;
    // a long log is one that a snapshot has kept from being copied
    if (this.#writes % checkpointWrites === 0 || this.#logBytes() > logBytesKept) this.#checkpoint();
  }

  #logBytes(): number {
    return statSync(`${this.#start.file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Does not wait for its turn: SQLite checkpoints concurrently with writes. */
  #checkpoint(): void {
    if (this.#isCheckpointing) return;
    this.#isCheckpointing = true;
    const finish = () => {
      this.#isCheckpointing = false;
    };
    // if it fails, the next checkpoint copies the rest
    this.#request({ kind: 'checkpoint' }).then(finish, finish);
  }

  #request<T>(request: WriteRequest): Promise<T> {
    if (this.#thread === undefined || this.#thread.hasEnded) this.#thread = new SqliteThread(threadUrl, this.#start);
    return this.#thread.request(request);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined); // the caller of `work` handles the error
    return result;
  }
}
