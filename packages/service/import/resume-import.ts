import { createHash, type Hash } from 'node:crypto';
import type { ResumePoint } from '../storage/store.ts';
import { ImportError } from './error.ts';
import type { SourceOptions } from './read-valid-rows.ts';

/** How an import continues from a resume point. */
export interface Resumption {
  /** Rows that are imported already. */
  readonly rows: number;
  /**
   * Whether a row, given by its number and end offset, is imported already. Throws `ImportError` if
   * the rows up to the resume point are not those that were imported.
   */
  isPast(row: number, end: number): boolean;
  /** Throws `ImportError` if a source with this number of rows ended before the resume point. */
  requireReached(rows: number): void;
}

/** Prepares to continue from a resume point, or from the beginning if there is none. */
export function createResumption(
  resumePoint: ResumePoint | undefined,
  format: string,
  digest: SourceDigest,
): Resumption {
  if (resumePoint === undefined) return { rows: 0, isPast: () => false, requireReached: () => undefined };
  const [[was], [is]] = [resumePoint.format.split(' '), format.split(' ')];
  if (was !== is) throw otherSource(`its format was ${was}, it is ${is} now`);
  if (resumePoint.format !== format) throw otherSource('its columns were mapped otherwise');
  const { bytes, read, sha256 } = resumePoint;
  return {
    rows: read,
    isPast(row, end) {
      if (row > read) return false;
      digest.markRowEnd(Math.min(end, bytes));
      if (row === read && digest.at(bytes) !== sha256)
        throw otherSource(`its first ${read} rows (${bytes} decompressed bytes) are not those that were imported`);
      return true;
    },
    requireReached(rows) {
      if (rows < read) throw otherSource(`it has ${rows} rows, ${read} were imported`);
    },
  };
}

/** The format of a resume point: that of the source, and a hash of how its columns are mapped. */
export function formatOf({ format, mapping }: Pick<SourceOptions, 'format' | 'mapping'>): string {
  if (mapping === undefined) return format;
  return `${format} ${createHash('sha256').update(JSON.stringify(mapping)).digest('hex').slice(0, 16)}`;
}

const otherSource = (difference: string): ImportError =>
  new ImportError(
    'OTHER_SOURCE',
    `Cannot resume the import: the source must start with the rows of the unfinished import: ${difference}; import it without --resume to start again`,
  );

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
