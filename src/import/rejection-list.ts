import type { RejectedRow } from './read-valid-rows.ts';

/** Limits of the rejected rows that the history keeps of an import: rows and bytes. */
const rowsMax = 100;
const bytesMax = 131_072;

/** Collects the first rejected rows of an import. */
export class RejectionList {
  /** The rows as NDJSON, without the text of the row: it may contain an address. */
  lines = '';
  #rows = 0;
  #isFull = false;

  add({ line, errors }: RejectedRow): void {
    if (this.#isFull) return;
    const more = `${JSON.stringify({ line, errors })}\n`;
    this.#rows += 1;
    this.#isFull = this.#rows > rowsMax || Buffer.byteLength(this.lines) + Buffer.byteLength(more) > bytesMax;
    if (!this.#isFull) this.lines += more;
  }
}
