import { createHash } from 'node:crypto';

/** Follows a source that is read elsewhere, and tells the SHA-256 of its first bytes; keeps of it what was read and not hashed yet. */
export class SourceDigest {
  readonly #hash = createHash('sha256');
  readonly #pending: Buffer[] = [];
  #hashed = 0;

  /** The source as it is, followed. */
  async *follow(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      this.#pending.push(chunk);
      yield chunk;
    }
  }

  /** Hashes what has been read, up to so many bytes of the source in all. */
  advance(bytes: number): void {
    while (this.#hashed < bytes) {
      const [chunk] = this.#pending;
      if (chunk === undefined) return;
      const part = chunk.subarray(0, bytes - this.#hashed);
      this.#hash.update(part);
      this.#hashed += part.length;
      if (part.length === chunk.length) this.#pending.shift();
      else this.#pending[0] = chunk.subarray(part.length);
    }
  }

  /** SHA-256 of the first so many bytes, hexadecimal; `undefined` when that many were not read, or more were hashed already. */
  at(bytes: number): string | undefined {
    this.advance(bytes);
    return this.#hashed === bytes ? this.#hash.copy().digest('hex') : undefined;
  }
}
