import { readSummaryLine, summaryStart } from '../contract/report.ts';
import { type ErrorContext, ExportError } from './error.ts';
import { startSha256 } from './sha256.ts';

/** Longer than the summary line, so that it is never passed on. */
const heldBytes = 256;

/** Maximum length of a line: the longest record of an import has 16 KiB. */
const lineBytesMax = 65_536;

/** Most bytes of a record in a Parquet file. */
const recordBytesMax = 4_096;

const lineFeed = 10;

/**
 * Checks an export against the summary in its last line: passes the records on and removes the
 * summary. Throws `ExportError` at the end unless the number of records and their SHA-256 agree.
 */
export class ExportCheck {
  readonly #format: 'csv' | 'ndjson' | 'parquet';
  readonly #context: ErrorContext;
  readonly #hash = startSha256();
  #held = new Uint8Array(0);
  #lines = 0;
  /** Bytes of the line, or of the whole Parquet file, which has no lines. */
  #lineBytes = 0;
  readonly #announced: number;
  #bytesMax: number;

  /** `rows` is the number of records that the service announced; `NaN` if it is unknown. */
  constructor(format: 'csv' | 'ndjson' | 'parquet', rows: number, context: ErrorContext) {
    this.#format = format;
    this.#announced = rows;
    this.#bytesMax = lineBytesMax;
    if (format === 'csv') this.#lines = -1; // its header
    if (format === 'parquet') {
      this.#lines = rows; // the hash is about its bytes, and they have no lines
      this.#bytesMax += rows * recordBytesMax;
    }
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
    const text = new TextDecoder('latin1').decode(this.#held);
    const start = text.lastIndexOf(summaryStart);
    const summary = readSummaryLine(text.slice(start, -1)); // without the line break
    if (summary === undefined) throw this.#error('INCOMPLETE', 'end with its summary', 'there is none');
    const last = this.#accept(this.#held.subarray(0, start));
    const rows = this.#lines;
    // not those of a Parquet file without an announced number
    if (Math.abs(rows - summary.rows) > 0)
      throw this.#error('ROWS_DIFFER', `have ${summary.rows} records`, `it has ${rows}`);
    const sha256 = this.#hash.digest('hex');
    if (sha256 !== summary.sha256)
      throw this.#error('HASH_DIFFERS', `have the SHA-256 ${summary.sha256}`, `it is ${sha256}`);
    return last;
  }

  #accept(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    this.#hash.update(bytes);
    // no field has a line break, so each line is a record, in CSV too
    const next = (from: number) => (this.#format === 'parquet' ? -1 : bytes.indexOf(lineFeed, from));
    let begin = 0;
    for (let end = next(0); end >= 0; end = next(begin)) {
      this.#lines += 1;
      this.#lineBytes = 0;
      begin = end + 1;
    }
    this.#lineBytes += bytes.length - begin;
    // without these, an export that never ends would be read for ever
    if (this.#lines > this.#announced)
      throw this.#error('ROWS_DIFFER', 'have as many records as announced', 'it has more');
    if (this.#lineBytes > this.#bytesMax) throw this.#error('INCOMPLETE', 'end', 'it goes on');
    return bytes;
  }

  #error(code: ExportError['code'], rule: string, found: string): ExportError {
    return new ExportError(code, `Cannot use the export: it must ${rule}: ${found}`, this.#context);
  }
}
