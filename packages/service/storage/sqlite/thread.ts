import { getHeapStatistics } from 'node:v8';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { StorageError, type StorageErrorCode } from '../error.ts';
import { knownDamage, noteDamage } from './error.ts';

type ThreadResponse =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly code?: StorageErrorCode; readonly isDamaged: boolean };

interface ThreadStart {
  readonly file: string;
}

/**
 * Heap of a thread in MB, at most half of the main thread's: it allocates much and retains little.
 * Node's default young generation takes 40 MB more.
 */
const heapMb = {
  maxYoungGenerationSizeMb: 12,
  maxOldGenerationSizeMb: Math.min(256, getHeapStatistics().heap_size_limit / 2 / 1_048_576),
};

/**
 * A worker thread of the embedded store. It processes requests in order; when it exits, requests
 * without a response are rejected.
 */
export class SqliteThread<Request> {
  readonly #worker: Worker;
  readonly #waiting: PromiseWithResolvers<unknown>[] = [];
  #failure: StorageError | undefined;

  /** Starts the module at `url`, which calls `serveRequests`; `start` becomes its `workerData`. */
  constructor(url: URL, start: ThreadStart) {
    this.#worker = new Worker(url, { workerData: start, resourceLimits: heapMb });
    this.#worker.on('message', (response: ThreadResponse) => {
      const { resolve, reject } = this.#waiting.shift() ?? Promise.withResolvers();
      if (response.ok) return resolve(response.value);
      const error = toError(response);
      if (response.isDamaged && error instanceof StorageError) noteDamage(start.file, error);
      reject(error);
    });
    this.#worker.once('error', (error) => this.#fail(error));
    this.#worker.once('exit', () => this.#fail());
  }

  get hasEnded(): boolean {
    return this.#failure !== undefined;
  }

  /**
   * Sends a request, and transfers some memory instead of copying it; the caller knows the type of
   * the response.
   */
  async request<T>(request: Request, transferred: readonly ArrayBuffer[] = []): Promise<T> {
    if (this.#failure !== undefined) throw this.#failure;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.push(waiting);
    this.#worker.postMessage(request, transferred);
    return waiting.promise as Promise<T>;
  }

  /**
   * Stops the thread after the running statement; closing the connection rolls its transaction
   * back.
   */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(cause?: unknown): void {
    this.#failure ??= new StorageError(
      'UNAVAILABLE',
      'Cannot use the embedded store: its thread must run: it exited',
      cause,
    );
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}

/** A response with memory that is transferred instead of copied. */
export class Transferred {
  readonly value: unknown;
  readonly memory: ArrayBuffer[];

  constructor(value: unknown, memory: ArrayBuffer[]) {
    this.value = value;
    this.memory = memory;
  }
}

/**
 * Called in a worker thread: processes the requests of the thread that started it, one after
 * another.
 */
export function serveRequests<Request>(handle: (request: Request) => unknown): void {
  if (isMainThread) throw new TypeError('Cannot serve requests: this module must run in a thread of the store');
  parentPort?.on('message', (request: Request) => {
    const response = responseOf(() => handle(request));
    if (response.ok && response.value instanceof Transferred) {
      const { value, memory } = response.value;
      parentPort?.postMessage({ ...response, value }, memory);
    } else parentPort?.postMessage(response);
  });
}

function responseOf(work: () => unknown): ThreadResponse {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    const { message } = error as Error;
    // the main thread does not share this thread's memory
    const isDamaged = knownDamage((workerData as ThreadStart).file) !== undefined;
    return { ok: false, message, isDamaged, ...(error instanceof StorageError && { code: error.code }) };
  }
}

const toError = ({ code, message }: ThreadResponse & { ok: false }): Error =>
  code === undefined ? new TypeError(message) : new StorageError(code, message);
