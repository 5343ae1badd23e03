import { availableParallelism } from 'node:os';
import { StorageError } from '../error.ts';
import type { Row, TenantId, TenantReader, TenantSnapshot, TenantStatement } from '../store.ts';
import type { ReaderStart, ReadRequest } from './read-request.ts';
import { type ReaderSlot, ReaderSlots } from './reader-slots.ts';
import { SqliteThread } from './thread.ts';

/**
 * Reader threads of a process: one tenant may hold all but one, so there are two at least. Each is
 * started when it is first needed and takes some 10 MB.
 */
const threadsMax = Math.min(4, Math.max(2, availableParallelism()));

/**
 * Reads of one tenant that wait for a thread; each will take its share of the time of a request.
 */
const waitingMax = 256;

const noDeadline = Number.POSITIVE_INFINITY;

const threadUrl = new URL('./reader-thread.ts', import.meta.url);

/**
 * Reads of the embedded store that take as long as the tenant is large: on threads, while the main
 * one goes on serving (`docs/decisions/reader-threads.md`).
 */
export class SqliteReaders {
  readonly #threads: readonly ReaderThread[];
  readonly #slots: ReaderSlots<ReaderThread>;
  #sessions = 0;

  constructor(file: string) {
    this.#threads = Array.from({ length: threadsMax }, () => new ReaderThread(file));
    this.#slots = new ReaderSlots(this.#threads, { perTenantMax: threadsMax - 1, waitingMax });
  }

  /** Rows of each statement at one moment; `$1` is bound in its values already. */
  readOnce(
    tenant: TenantId,
    statements: readonly TenantStatement[],
    deadline?: number,
  ): Promise<readonly (readonly Row[])[]> {
    return this.#inTime(tenant, (thread) => thread.ask({ kind: 'once', statements }), deadline);
  }

  read<T>(tenant: TenantId, work: (reader: TenantReader) => Promise<T>, deadline?: number): Promise<T> {
    const session = this.#nextSession();
    const run = async (thread: ReaderThread): Promise<T> => {
      await thread.ask({ kind: 'begin', session });
      try {
        return await work({
          all: (sql, values = []) => thread.ask({ kind: 'all', session, sql, values: [tenant, ...values] }),
        });
      } finally {
        thread.endSession(session);
      }
    };
    return this.#inTime(tenant, run, deadline);
  }

  /**
   * Opens a moment on one of the threads, which others use between its batches. Its stream must
   * begin by the deadline.
   */
  openSnapshot(tenant: TenantId, deadline = noDeadline): TenantSnapshot {
    const session = this.#nextSession();
    const pinned = this.#threads.reduce((best, thread) => (thread.snapshots < best.snapshots ? thread : best));
    const closing = new AbortController();
    const endWith = (reason: StorageError): void => {
      if (closing.signal.aborted) return;
      closing.abort(reason);
      pinned.snapshots -= 1;
      if (begun !== undefined) pinned.endSession(session);
    };
    const timer = deadline === noDeadline ? undefined : setTimeout(() => endWith(lateRead()), msUntil(deadline));
    pinned.snapshots += 1;
    let begun: Promise<void> | undefined;
    const ask = <A>(request: ReadRequest): Promise<A> =>
      this.#slots.run(
        tenant,
        async (thread) => {
          begun ??= thread.ask<void>({ kind: 'begin', session });
          await begun;
          return thread.ask<A>(request);
        },
        { pinned, signal: closing.signal },
      );
    return {
      all: (sql, values = []) => ask({ kind: 'all', session, sql, values: [tenant, ...values] }),
      async *stream(sql, values, batchRows) {
        clearTimeout(timer);
        let next = ask<readonly Row[]>({ kind: 'stream', session, sql, values: [tenant, ...values], batchRows });
        for (let rows = await next; rows.length > 0; rows = await next) {
          next = ask({ kind: 'next', session }); // is on its way while these rows are written
          next.catch(() => undefined); // told to whoever reads on, if anyone does
          yield rows;
        }
      },
      close: async () => {
        clearTimeout(timer);
        endWith(closedSnapshot());
      },
    };
  }

  /** Ends all threads; what is under way is interrupted. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }

  async #inTime<T>(tenant: TenantId, work: (thread: ReaderThread) => Promise<T>, deadline = noDeadline): Promise<T> {
    if (deadline === noDeadline) return this.#slots.run(tenant, work);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(lateRead()), msUntil(deadline));
    try {
      return await this.#slots.run(tenant, work, { signal: late.signal });
    } finally {
      clearTimeout(timer);
    }
  }

  #nextSession(): number {
    this.#sessions += 1;
    return this.#sessions;
  }
}

/** A reader thread, which is started when it is first needed, and again once it has ended. */
class ReaderThread implements ReaderSlot {
  /** Snapshots that are open on it. */
  snapshots = 0;
  readonly #start: ReaderStart;
  #thread: SqliteThread<ReadRequest> | undefined;
  #isClosed = false;

  constructor(file: string) {
    this.#start = { file, interrupted: new Int32Array(new SharedArrayBuffer(4)) };
  }

  async ask<T>(request: ReadRequest): Promise<T> {
    const begins = request.kind === 'once' || request.kind === 'begin';
    if (begins && !this.#isClosed && this.#thread?.hasEnded !== false)
      this.#thread = new SqliteThread(threadUrl, this.#start);
    if (this.#thread === undefined) throw closedSnapshot();
    return this.#thread.ask(request);
  }

  /** Ends a session after what was asked before. */
  endSession(session: number): void {
    this.ask({ kind: 'end', session }).catch(() => undefined); // it has ended with its thread
  }

  interrupt(): void {
    Atomics.store(this.#start.interrupted, 0, 1);
  }

  resume(): void {
    Atomics.store(this.#start.interrupted, 0, 0);
  }

  async end(): Promise<void> {
    this.#isClosed = true;
    this.interrupt();
    await this.#thread?.end();
  }
}

const msUntil = (deadline: number): number => Math.max(0, deadline - performance.now());

const lateRead = (): StorageError =>
  new StorageError('UNAVAILABLE', 'Cannot read the embedded store: the read must end by the deadline of its request');

const closedSnapshot = (): StorageError =>
  new StorageError('UNAVAILABLE', 'Cannot go on reading the embedded store: the snapshot must be open');
