import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { StorageError, type StorageErrorCode } from '../error.ts';
import { knownDamage, noteDamage } from './damage.ts';

/** What a thread returns for a request. */
type ThreadAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly code?: StorageErrorCode; readonly isDamaged: boolean };

/** What every thread begins with. */
interface ThreadStart {
  readonly file: string;
}

/**
 * Heap of a thread, in MB: it makes much and keeps nothing. Node's default young generation takes
 * 40 MB more.
 */
const heapMb = { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 256 };

/**
 * A thread that works for the embedded store, until `end`. It answers its requests in their order;
 * when it ends, it rejects those without an answer.
 */
export class SqliteThread<Request> {
  readonly #worker: Worker;
  readonly #waiting: PromiseWithResolvers<unknown>[] = [];
  #failure: StorageError | undefined;

  /** Starts the module at `url`, which calls `answerRequests`; `start` is what it begins with. */
  constructor(url: URL, start: ThreadStart) {
    this.#worker = new Worker(url, { workerData: start, resourceLimits: heapMb });
    this.#worker.on('message', (answer: ThreadAnswer) => {
      const { resolve, reject } = this.#waiting.shift() ?? Promise.withResolvers();
      if (answer.ok) return resolve(answer.value);
      const error = toError(answer);
      if (answer.isDamaged && error instanceof StorageError) noteDamage(start.file, error);
      reject(error);
    });
    this.#worker.once('error', (error) => this.#fail(error));
    this.#worker.once('exit', () => this.#fail());
  }

  get hasEnded(): boolean {
    return this.#failure !== undefined;
  }

  /** Sends a request; the caller knows what type its answer has. */
  async ask<T>(request: Request): Promise<T> {
    if (this.#failure !== undefined) throw this.#failure;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.push(waiting);
    this.#worker.postMessage(request);
    return waiting.promise as Promise<T>;
  }

  /**
   * Ends the thread after the statement under way; its transaction is rolled back with its
   * connection.
   */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(cause?: unknown): void {
    this.#failure ??= new StorageError(
      'UNAVAILABLE',
      'Cannot use the embedded store: the thread that works for it must run: it ended',
      cause,
    );
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}

/** In a thread: answers the requests of the thread that started it, one after another. */
export function answerRequests<Request>(answer: (request: Request) => unknown): void {
  if (isMainThread) throw new TypeError('Cannot answer requests: this module must run in a thread of the store');
  parentPort?.on('message', (request: Request) => parentPort?.postMessage(answerOf(() => answer(request))));
}

function answerOf(work: () => unknown): ThreadAnswer {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    const { message } = error as Error;
    // a thread has a memory of its own
    const isDamaged = knownDamage((workerData as ThreadStart).file) !== undefined;
    return { ok: false, message, isDamaged, ...(error instanceof StorageError && { code: error.code }) };
  }
}

const toError = ({ code, message }: ThreadAnswer & { ok: false }): Error =>
  code === undefined ? new TypeError(message) : new StorageError(code, message);
