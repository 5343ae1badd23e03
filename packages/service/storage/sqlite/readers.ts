import { availableParallelism } from 'node:os';
import { inStatement } from '../../tracing/statement-span.ts';
import { StorageError } from '../error.ts';
import type { Row, SqlValue, TenantId, TenantReader, TenantSnapshot, TenantStatement } from '../store.ts';
import type { ReaderStart, ReadRequest, TransferredBatch } from './reader-thread.ts';
import { SqliteThread } from './thread.ts';

/**
 * Reader threads of a process: at least three, because one tenant may hold all but one, and a
 * second person of the tenant should not wait for the first. Each is started on first use and takes
 * some 10 MB.
 */
const threadsMax = Math.min(4, Math.max(3, availableParallelism()));

/** Maximum reads of one tenant that wait for a thread. */
const waitingMax = 256;

const noDeadline = Number.POSITIVE_INFINITY;

const threadUrl = new URL('./reader-thread.ts', import.meta.url);

/** What ends a read: a time of `performance.now()`, and a signal, with its reason. */
export interface ReadBounds {
  readonly deadline?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads of the embedded store that may take long for a large tenant. They run on threads while the
 * main thread keeps serving requests (`docs/decisions/speed.md#reader-threads`).
 */
export class SqliteReaders {
  readonly #threads: readonly ReaderThread[];
  readonly #slots: ReaderSlots<ReaderThread>;
  #sessions = 0;

  constructor(file: string) {
    this.#threads = Array.from({ length: threadsMax }, () => new ReaderThread(file));
    this.#slots = new ReaderSlots(this.#threads, waitingMax);
  }

  /** Returns the rows of a statement, whose values already include the tenant for `$1`. */
  readOnce(tenant: TenantId, statement: TenantStatement, bounds: ReadBounds): Promise<readonly Row[]> {
    return this.#runWithin(tenant, (thread) => requestOnce(thread, statement), bounds);
  }

  read<T>(tenant: TenantId, work: (reader: TenantReader) => Promise<T>, bounds: ReadBounds): Promise<T> {
    const session = this.#nextSession();
    const run = async (thread: ReaderThread): Promise<T> => {
      await thread.request({ kind: 'begin', session });
      try {
        return await work({
          all: (sql, values = []) =>
            inStatement('sqlite', sql, () =>
              thread.request({ kind: 'all', session, sql, values: [tenant, ...values] }),
            ),
        });
      } finally {
        thread.endSession(session);
      }
    };
    return this.#runWithin(tenant, run, bounds);
  }

  /**
   * Opens a snapshot on one of the threads, which runs other work between its batches: on an idle
   * one if there is any, because another may be busy until the deadline of its statement. The
   * stream must begin by the deadline.
   */
  openSnapshot(tenant: TenantId, { deadline = noDeadline, signal }: ReadBounds): TenantSnapshot {
    const session = this.#nextSession();
    const pinned = this.#slots.available.reduce((best, thread) => (thread.snapshots < best.snapshots ? thread : best));
    const closing = new AbortController();
    const onAbort = (): void => endWith(signal?.reason);
    const endWith = (reason: unknown): void => {
      if (closing.signal.aborted) return;
      signal?.removeEventListener('abort', onAbort);
      closing.abort(reason);
      pinned.snapshots -= 1;
      if (begun !== undefined) pinned.endSession(session);
    };
    const timer = deadline === noDeadline ? undefined : setTimeout(() => endWith(lateRead()), msUntil(deadline));
    pinned.snapshots += 1;
    let begun: Promise<void> | undefined;
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort);
    const send = <A>(request: ReadRequest, transferred?: readonly ArrayBuffer[]): Promise<A> =>
      this.#slots.run(
        tenant,
        async (thread) => {
          begun ??= thread.request<void>({ kind: 'begin', session });
          await begun;
          return thread.request<A>(request, transferred);
        },
        { pinned, signal: closing.signal },
      );
    async function* batches(sql: string, values: readonly SqlValue[], batchRows: number) {
      clearTimeout(timer);
      let next = send<TransferredBatch>({ kind: 'stream', session, sql, values: [tenant, ...values], batchRows });
      // Two batches take turns in the same memory. New memory for each grew to 70 MB, because only
      // a garbage collection frees it, and the strings of an export cause few.
      let free: ArrayBuffer | undefined;
      for (let batch = await next; batch.rows > 0; batch = await next) {
        // the next batch is read while this one is written
        next = send({ kind: 'next', session, memory: free }, free && [free]);
        next.catch(() => undefined); // a failure is reported where it is awaited, if it is
        yield { rows: batch.rows, lines: Buffer.from(batch.memory, 0, batch.bytes) };
        free = batch.memory;
      }
    }
    return {
      all: (sql, values = []) =>
        inStatement('sqlite', sql, () => send({ kind: 'all', session, sql, values: [tenant, ...values] })),
      streamLines: batches,
      close: async () => {
        clearTimeout(timer);
        endWith(closedSnapshot());
      },
    };
  }

  /** Stops all threads; running statements are interrupted. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }

  async #runWithin<T>(
    tenant: TenantId,
    work: (thread: ReaderThread) => Promise<T>,
    { deadline = noDeadline, signal }: ReadBounds,
  ): Promise<T> {
    if (deadline === noDeadline) return this.#slots.run(tenant, work, { signal });
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(lateRead()), msUntil(deadline));
    const either = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
    try {
      return await this.#slots.run(tenant, work, { signal: either });
    } finally {
      clearTimeout(timer);
    }
  }

  #nextSession(): number {
    this.#sessions += 1;
    return this.#sessions;
  }
}

/** A reader thread, started on first use and again after it has exited. */
class ReaderThread implements ReaderSlot {
  /** Number of open snapshots on this thread. */
  snapshots = 0;
  readonly #start: ReaderStart;
  #thread: SqliteThread<ReadRequest> | undefined;
  #isClosed = false;

  constructor(file: string) {
    this.#start = { file, interrupted: new Int32Array(new SharedArrayBuffer(4)) };
  }

  async request<T>(request: ReadRequest, transferred?: readonly ArrayBuffer[]): Promise<T> {
    const begins = request.kind === 'once' || request.kind === 'begin';
    if (begins && !this.#isClosed && this.#thread?.hasEnded !== false)
      this.#thread = new SqliteThread(threadUrl, this.#start);
    if (this.#thread === undefined) throw closedSnapshot();
    return this.#thread.request(request, transferred);
  }

  /** Ends a session after its earlier requests. */
  endSession(session: number): void {
    this.request({ kind: 'end', session }).catch(() => undefined); // its thread stopped
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

const requestOnce = (thread: ReaderThread, statement: TenantStatement): Promise<readonly Row[]> =>
  inStatement('sqlite', statement.sql, () => thread.request({ kind: 'once', statement }));

const msUntil = (deadline: number): number => Math.max(0, deadline - performance.now());

const lateRead = (): StorageError =>
  new StorageError(
    'UNAVAILABLE',
    'Cannot read the embedded store: the read must finish before the deadline of its request',
  );

const closedSnapshot = (): StorageError =>
  new StorageError('UNAVAILABLE', 'Cannot continue reading the embedded store: the snapshot must be open');

/** The part of a reader thread that the scheduler needs. */
export interface ReaderSlot {
  /** Makes the running statement fail soon, and later ones too, until `resume`. */
  interrupt(): void;
  resume(): void;
}

interface Job<S> {
  readonly tenant: string;
  /** The only slot that may run the work. */
  readonly pinned: S | undefined;
  readonly start: (slot: S) => void;
}

/**
 * Runs each job on a thread of its own, first in, first out, except that one tenant leaves one
 * thread to the others. A job is cancelled when its signal aborts, whether it waits or runs.
 */
export class ReaderSlots<S extends ReaderSlot> {
  readonly #slots: readonly S[];
  readonly #waitingMax: number;
  /** The tenant of the job of each busy slot. */
  readonly #running = new Map<S, string>();
  readonly #waiting = new Set<Job<S>>();

  /** @param waitingMax maximum waiting jobs per tenant */
  constructor(slots: readonly S[], waitingMax: number) {
    this.#slots = slots;
    this.#waitingMax = waitingMax;
  }

  /** The threads that run nothing now, or all if each runs something. */
  get available(): readonly S[] {
    const idle = this.#slots.filter((slot) => !this.#running.has(slot));
    return idle.length === 0 ? this.#slots : idle;
  }

  /**
   * Runs work on a thread once it is its turn. Rejects with `BUSY` if too many jobs of the tenant
   * wait, and with the signal's reason if it aborts.
   */
  async run<T>(
    tenant: string,
    work: (slot: S) => Promise<T>,
    { signal, pinned }: { readonly signal?: AbortSignal | undefined; readonly pinned?: S } = {},
  ): Promise<T> {
    signal?.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const granted = Promise.withResolvers<S>();
    let held: S | undefined;
    const job: Job<S> = { tenant, pinned, start: granted.resolve };
    const onAbort = (): void => {
      if (held === undefined) this.#waiting.delete(job);
      else held.interrupt();
      aborted.reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#enqueue(job);
    const running = granted.promise.then(async (slot) => {
      held = slot;
      try {
        signal?.throwIfAborted(); // since the slot was granted
        return await work(slot);
      } finally {
        slot.resume();
        this.#running.delete(slot);
        this.#startWaiting();
      }
    });
    try {
      return await Promise.race([running, aborted.promise]);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #enqueue(job: Job<S>): void {
    const ofTenant = [...this.#waiting].filter(({ tenant }) => tenant === job.tenant);
    if (ofTenant.length >= this.#waitingMax) {
      throw new StorageError(
        'BUSY',
        `Cannot read the embedded store now: at most ${this.#waitingMax} long reads of one tenant may wait: wait for some of them to finish`,
      );
    }
    this.#waiting.add(job);
    this.#startWaiting();
  }

  #startWaiting(): void {
    for (const job of this.#waiting) {
      const slot = this.#slotFor(job);
      if (slot === undefined) continue;
      this.#waiting.delete(job);
      this.#running.set(slot, job.tenant);
      job.start(slot);
    }
  }

  #slotFor({ tenant, pinned }: Job<S>): S | undefined {
    const held = [...this.#running.values()].filter((each) => each === tenant).length;
    if (held >= this.#slots.length - 1) return undefined;
    return this.#slots.find((slot) => !this.#running.has(slot) && (pinned === undefined || pinned === slot));
  }
}
