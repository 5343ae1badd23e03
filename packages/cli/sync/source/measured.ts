import { createHash } from 'node:crypto';

/** Counts and hashes bytes on their way. */
export class Measured {
  readonly #hash = createHash('sha256');
  bytes = 0;

  async *of(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of chunks) {
      this.#hash.update(chunk);
      this.bytes += chunk.length;
      yield chunk;
    }
  }

  get sha256(): string {
    return this.#hash.copy().digest('hex');
  }
}
