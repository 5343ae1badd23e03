/** Bytes of a source that have been read but do not belong to a finished row yet. */
export class PendingBytes {
  readonly #chunks: Buffer[] = [];
  #start = 0;
  #end = 0;

  /** Number of pending bytes. */
  get length(): number {
    return this.#end - this.#start;
  }

  /** Offset in the source of the first pending byte. */
  get start(): number {
    return this.#start;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#end += chunk.length;
  }

  /** Removes and returns the bytes up to an offset in the source. */
  take(end: number): Buffer {
    const parts: Buffer[] = [];
    while (this.#start < end) {
      const chunk = this.#chunks.shift();
      if (chunk === undefined) break;
      const part = chunk.subarray(0, end - this.#start);
      if (part.length < chunk.length) this.#chunks.unshift(chunk.subarray(part.length));
      this.#start += part.length;
      parts.push(part);
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }
}
