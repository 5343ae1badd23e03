import { createHash, type Hash } from 'node:crypto';

/** Bytes that may wait to be hashed, so that not every row causes a hash update. */
const stepBytes = 1_048_576;
/** Maximum buffered bytes without a row end; beyond it, all but the last ones are hashed ahead. */
const pendingBytesMax = 16 * stepBytes;
/** Maximum bytes that a row reader may have read ahead of the rows it has yielded. */
const readAheadBytes = 4 * stepBytes;

/**
 * Hashes a source while it is read and returns the SHA-256 up to the end of a row; buffers a
 * bounded number of bytes.
 */
export class SourceDigest {
  #hash = createHash('sha256');
  #hashed = 0;
  /** A hash further into the source than `#hash`, used if many bytes arrive without a row end. */
  #ahead: { readonly hash: Hash; readonly hashed: number } | undefined;
  readonly #pending: Buffer[] = [];
  #pendingBytes = 0;

  /** Yields the source unchanged and hashes it. */
  async *follow(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      this.#pending.push(chunk);
      this.#pendingBytes += chunk.length;
      if (this.#pendingBytes > pendingBytesMax) this.#hashAhead();
      yield chunk;
    }
  }

  /** Bytes that were read but not hashed yet. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Records that a row ends at this offset: digests of earlier offsets are not requested again. */
  markRowEnd(bytes: number): void {
    if (this.#pendingBytes > stepBytes) this.#advance(bytes);
  }

  /**
   * The SHA-256 of the first `bytes` bytes, hexadecimal; `undefined` if fewer were read, or if a
   * later offset was passed already.
   */
  at(bytes: number): string | undefined {
    this.#advance(bytes);
    return this.#hashed === bytes ? this.#hash.copy().digest('hex') : undefined;
  }

  /** Hashes the source up to the offset `bytes`, as far as it was read. */
  #advance(bytes: number): void {
    if (this.#ahead !== undefined) {
      if (bytes < this.#ahead.hashed) return;
      ({ hash: this.#hash, hashed: this.#hashed } = this.#ahead);
      this.#ahead = undefined;
    }
    this.#hashed += this.#move(this.#hash, bytes - this.#hashed);
  }

  #hashAhead(): void {
    const { hash, hashed } = this.#ahead ?? { hash: this.#hash.copy(), hashed: this.#hashed };
    this.#ahead = { hash, hashed: hashed + this.#move(hash, this.#pendingBytes - readAheadBytes) };
  }

  /** Hashes up to `bytes` pending bytes; returns how many were hashed. */
  #move(hash: Hash, bytes: number): number {
    let rest = bytes;
    while (rest > 0) {
      const chunk = this.#pending.shift();
      if (chunk === undefined) break;
      const part = chunk.subarray(0, rest);
      hash.update(part);
      rest -= part.length;
      if (part.length < chunk.length) this.#pending.unshift(chunk.subarray(part.length));
    }
    const moved = Math.max(0, bytes) - Math.max(0, rest);
    this.#pendingBytes -= moved;
    return moved;
  }
}
