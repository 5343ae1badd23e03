import { readSummaryLine } from '../contract/report.ts';
import { type ErrorContext, ExportError } from './error.ts';
import { Sha256 } from './sha256.ts';

/** Longer than the summary line, so that it is never passed on. */
const heldBytes = 256;

/** Longest line: no record comes near. */
const lineBytesMax = 2 ** 20;

const lineFeed = 10;

/**
 * Checks an export against the summary in its last line: passes the records on and removes the
 * summary. Throws `ExportError` at the end unless the number of records and their SHA-256 agree.
 */
export class ExportCheck {
  readonly #format: 'csv' | 'ndjson';
  readonly #context: ErrorContext;
  readonly #hash = new Sha256();
  #held = new Uint8Array(0);
  #lines = 0;
  #lineBytes = 0;
  readonly #linesMax: number;

  /** `rows` is the number of records that the service announced. */
  constructor(format: 'csv' | 'ndjson', rows: number, context: ErrorContext) {
    this.#format = format;
    this.#linesMax = format === 'csv' ? rows + 1 : rows;
    this.#context = context;
  }

  /** Returns the bytes that may be passed on after a part of the body has arrived. */
  next(part: Uint8Array): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#held.length + part.length);
    bytes.set(this.#held);
    bytes.set(part, this.#held.length);
    const end = Math.max(0, bytes.length - heldBytes);
    this.#held = bytes.slice(end);
    return this.#accept(bytes.subarray(0, end));
  }

  /** Returns the last bytes of the records. */
  end(): Uint8Array<ArrayBuffer> {
    const lineEnd = this.#held.at(-1) === lineFeed ? this.#held.length - 1 : -1;
    const lineStart = this.#held.subarray(0, Math.max(lineEnd, 0)).lastIndexOf(lineFeed) + 1;
    const line = new TextDecoder().decode(this.#held.subarray(lineStart, lineEnd + 1));
    const summary = readSummaryLine(line.slice(0, -1));
    if (summary === undefined) throw this.#error('INCOMPLETE', 'end with its summary', 'there is none');
    const last = this.#accept(this.#held.subarray(0, lineStart));
    const rows = this.#format === 'csv' ? this.#lines - 1 : this.#lines;
    if (rows !== summary.rows) throw this.#error('ROWS_DIFFER', `have ${summary.rows} records`, `it has ${rows}`);
    const sha256 = this.#hash.hex();
    if (sha256 !== summary.sha256)
      throw this.#error('HASH_DIFFERS', `have the SHA-256 ${summary.sha256}`, `it is ${sha256}`);
    return last;
  }

  #accept(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    this.#hash.update(bytes);
    // no field has a line break, so each line is a record, in CSV too
    for (const byte of bytes) {
      this.#lineBytes += 1;
      if (byte !== lineFeed) continue;
      this.#lines += 1;
      this.#lineBytes = 0;
    }
    // without these, an export that never ends would be read for ever
    if (this.#lines > this.#linesMax)
      throw this.#error('ROWS_DIFFER', 'have as many records as announced', 'it has more');
    if (this.#lineBytes > lineBytesMax)
      throw this.#error('INCOMPLETE', `have lines of at most ${lineBytesMax} bytes`, 'one is longer');
    return bytes;
  }

  #error(code: ExportError['code'], rule: string, found: string): ExportError {
    return new ExportError(code, `Cannot use the export: it must ${rule}: ${found}`, this.#context);
  }
}
