import { DecompressionStream, ReadableStream, type ReadableWritablePair } from 'node:stream/web';
import { SyncError } from '../source/error.ts';
import { linesOf } from '../source/read-source.ts';
import { csvHeader, exportLineOf } from './csv-file.ts';
import { differ } from './file-claims.ts';
import type { Manifest } from './manifest.ts';

/** A file of CSV or NDJSON as the lines of the export that it is made of. */
export class TextFile {
  readonly #bytes: AsyncIterable<Uint8Array>;
  readonly #manifest: Pick<Manifest, 'format' | 'values'>;
  /** What is wrong with the file, once it was read. */
  readonly faults: string[] = [];

  constructor(bytes: AsyncIterable<Uint8Array>, manifest: Pick<Manifest, 'format' | 'values'>) {
    this.#bytes = bytes;
    this.#manifest = manifest;
  }

  async *lines(): AsyncGenerator<readonly string[], void, undefined> {
    const { format, values } = this.#manifest;
    const bytes = this.#withEnd(format.endsWith('.gz') ? gunzip(this.#bytes) : this.#bytes);
    if (!format.startsWith('csv')) return yield* linesOf(bytes);
    let header: string | undefined;
    for await (const lines of linesOf(bytes)) {
      const records = header === undefined ? lines.slice(1) : lines;
      header ??= lines[0];
      yield records.map((line) => exportLineOf(line, values));
    }
    this.faults.push(...differ('columns', header?.replace(/\r$/, '') ?? '', csvHeader));
  }

  /** The same bytes. The last one must be a line feed. */
  async *#withEnd(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    let last: number | undefined = lineFeed;
    for await (const chunk of bytes) {
      last = chunk.at(-1) ?? last;
      yield chunk;
    }
    if (last !== lineFeed) this.faults.push('it must end with a line feed');
  }
}

const lineFeed = 10;

/** Decompresses a stream. Throws `SyncError` `NOT_EQUAL` if it is no gzip, or not all of it. */
async function* gunzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const whole = new DecompressionStream('gzip') as ReadableWritablePair<Uint8Array, Uint8Array>;
  try {
    yield* ReadableStream.from(chunks).pipeThrough(whole);
  } catch (error) {
    const { code = '' } = error as { code?: string };
    if (!(error instanceof TypeError) && !/^(Z_|ERR_TRAILING)/.test(code)) throw error;
    throw new SyncError('NOT_EQUAL', 'it must be gzip from its first to its last byte', { cause: error });
  }
}
