import { createHash, type Hash } from 'node:crypto';

/** Bytes that are let wait for the hash, so that it is not asked for every row. */
const stepBytes = 1_048_576;
/**
 * Bytes without the end of a row that are kept; what comes before the last of them is hashed ahead.
 */
const keptBytesMax = 16 * stepBytes;
/** Bytes that a reader of rows may have taken in and not given as rows yet. */
const readAheadBytes = 4 * stepBytes;

/**
 * Follows a source that is read elsewhere, and tells the SHA-256 of its bytes up to the end of a
 * row; keeps a bounded part of what was read and not hashed yet.
 */
export class SourceDigest {
  #hash = createHash('sha256');
  #hashed = 0;
  /**
   * Further on in the source than `#hash`, where so many bytes have come without the end of a row.
   */
  #ahead: { readonly hash: Hash; readonly hashed: number } | undefined;
  readonly #pending: Buffer[] = [];
  #pendingBytes = 0;

  /** The source as it is, followed. */
  async *follow(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      this.#pending.push(chunk);
      this.#pendingBytes += chunk.length;
      if (this.#pendingBytes > keptBytesMax) this.#hashAhead();
      yield chunk;
    }
  }

  /** Bytes that are kept: read and not hashed yet. */
  get keptBytes(): number {
    return this.#pendingBytes;
  }

  /**
   * Hears of the end of a row, so many bytes into the source: nothing before the last one that was
   * told is asked for any more.
   */
  pass(bytes: number): void {
    if (this.#pendingBytes > stepBytes) this.#advance(bytes);
  }

  /**
   * SHA-256 of the first so many bytes, hexadecimal; `undefined` when that many were not read, or
   * more were passed already.
   */
  at(bytes: number): string | undefined {
    this.#advance(bytes);
    return this.#hashed === bytes ? this.#hash.copy().digest('hex') : undefined;
  }

  /** Hashes what has been read, up to so many bytes of the source in all. */
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

  /** Moves up to so many of the waiting bytes into a hash; how many there were. */
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
