import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';

/** What the thread is asked: to add lines of JSON to a file, to end it, or to forget it. */
export type ParquetRequest =
  | ({ readonly file: number; readonly kind: 'add'; readonly lines: Uint8Array<ArrayBuffer> } & Columns)
  | ({ readonly file: number; readonly kind: 'end' } & Columns)
  | { readonly file: number; readonly kind: 'drop' };

/** The names of the fields that are its columns; all if absent. */
interface Columns {
  readonly fields?: readonly string[] | undefined;
}

/** The bytes of a file since the previous response. */
export interface ParquetResponse {
  readonly file: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

interface Lines {
  readonly rows: number;
  readonly lines: Uint8Array;
}

interface Part {
  readonly rows: number;
  readonly bytes: Buffer;
}

/**
 * Encodes records as a Parquet file, on a thread: 5,000 records would block other requests for a
 * tenth of a second. Yields the parts of the file, each with the number of its records. Throws if
 * the thread has ended.
 */
export async function* writeParquet(batches: AsyncIterable<Lines>, fields?: readonly string[]): AsyncGenerator<Part> {
  const thread = openThread();
  const file = thread.begin();
  try {
    let rows = 0;
    for await (const batch of batches) {
      rows += batch.rows;
      const bytes = await thread.send({ file, kind: 'add', fields, lines: Uint8Array.from(batch.lines) });
      if (bytes.length === 0) continue;
      yield { rows, bytes };
      rows = 0;
    }
    yield { rows, bytes: await thread.send({ file, kind: 'end', fields }) };
  } finally {
    thread.end(file);
  }
}

let shared: ParquetThread | undefined;

/** The thread of this process. It ends with the last export, so that it takes no memory. */
function openThread(): ParquetThread {
  if (shared === undefined || shared.hasEnded) shared = new ParquetThread();
  return shared;
}

/**
 * Most memory of the thread in MB, at most half of the main thread's heap: its garbage between two
 * collections is most of it.
 */
const heapMb = {
  maxYoungGenerationSizeMb: 16,
  maxOldGenerationSizeMb: Math.min(256, getHeapStatistics().heap_size_limit / 2 / 1_048_576),
};

class ParquetThread {
  readonly #worker = new Worker(new URL('./parquet-thread.ts', import.meta.url), { resourceLimits: heapMb });
  /** The exports in progress, each with its request, if it waits for a response. */
  readonly #files = new Map<number, PromiseWithResolvers<Buffer> | undefined>();
  #last = 0;
  hasEnded = false;

  constructor() {
    this.#worker.on('message', ({ file, bytes }: ParquetResponse) => {
      this.#files.get(file)?.resolve(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    });
    this.#worker.once('error', (error) => this.#fail(error as Error));
    this.#worker.once('exit', () => this.#fail(new Error('Cannot encode Parquet: its thread must run')));
  }

  begin(): number {
    this.#last += 1;
    this.#files.set(this.#last, undefined);
    return this.#last;
  }

  send(request: ParquetRequest): Promise<Buffer> {
    const waiting = Promise.withResolvers<Buffer>();
    this.#files.set(request.file, waiting);
    this.#worker.postMessage(request, request.kind === 'add' ? [request.lines.buffer] : []);
    return waiting.promise;
  }

  end(file: number): void {
    this.#files.delete(file);
    this.#worker.postMessage({ file, kind: 'drop' } satisfies ParquetRequest);
    if (this.#files.size > 0) return;
    this.hasEnded = true;
    void this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.hasEnded = true;
    for (const waiting of this.#files.values()) waiting?.reject(error);
  }
}
