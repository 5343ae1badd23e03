import { summaryStart } from '../../contract/report.ts';
import { rowBytesMax } from './check-row.ts';
import { readSeparator } from './read-csv.ts';
import { decompressed, endTurn, noRowsYet, readRows, type SourceOptions } from './read-valid-rows.ts';
import { checkedText } from './source-head.ts';

/**
 * Reads a source to its end and throws `ImportError` if it cannot be read as a whole, so that none
 * of its rows is loaded: compressed bytes that were cut, quotes that never end, an exported report
 * without its rest. `open` reads it from its beginning. The reader of rows decides, which costs a
 * tenth of a load; most sources need only a look at their bytes.
 */
export async function requireWhole(open: () => AsyncIterable<Buffer>, options: SourceOptions): Promise<void> {
  const bytes = checkedText(decompressed(open(), options));
  if (await (options.format === 'csv' ? isPlainCsv(bytes) : isPlainNdjson(bytes))) return;
  const rows = readRows(decompressed(open(), options), { ...options, tally: noRowsYet() }, Number.POSITIVE_INFINITY);
  for await (const _ of rows) {
    const turn = endTurn();
    if (turn !== undefined) await turn;
  }
}

/** Whether NDJSON has no summary, against which its rows would have to be compared. */
async function isPlainNdjson(source: AsyncIterable<Buffer>): Promise<boolean> {
  const summary = Buffer.from(summaryStart);
  let isPlain = true;
  let end: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    // between two chunks as well
    const seam = Buffer.concat([end, chunk.subarray(0, summary.length)]);
    if (seam.includes(summary) || chunk.includes(summary)) isPlain = false;
    end = chunk.length < summary.length ? seam.subarray(-summary.length) : chunk.subarray(-summary.length);
  }
  return isPlain;
}

/** Whether the quotes of CSV are as RFC 4180 has them, and no row is too long. */
async function isPlainCsv(source: AsyncIterable<Buffer>): Promise<boolean> {
  const { separator, whole } = await readSeparator(source);
  const scan = new CsvScan(separator.charCodeAt(0));
  for await (const chunk of whole) scan.add(chunk);
  return scan.finish();
}

const [quote, newline, carriageReturn] = [0x22, 0x0a, 0x0d];
/** The last byte of a byte order mark, after which a quote may begin a cell. */
const markEnd = 0xbf;

/** Looks at the quotes and the line ends of CSV. */
class CsvScan {
  readonly #separator: number;
  #isPlain = true;
  #isQuoted = false;
  /** Whether the last byte was a quote within quotes, which ends them or is doubled. */
  #isEnding = false;
  #last = newline;
  /** Offsets in the source: of the next byte, and of the beginning of a row. */
  #offset = 0;
  #rowStart = 0;

  constructor(separator: number) {
    this.#separator = separator;
  }

  add(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && this.#isPlain; ) {
      if (this.#isEnding) at += this.#endQuotes(chunk[at] ?? 0);
      else at = this.#readUntilQuote(chunk, at);
    }
    this.#offset += chunk.length;
  }

  finish(): boolean {
    return this.#isPlain && (!this.#isQuoted || this.#isEnding);
  }

  /** What follows a quote within quotes; returns how many bytes belong to it. */
  #endQuotes(next: number): number {
    this.#isEnding = false;
    if (next === quote) return 1;
    this.#isQuoted = false;
    this.#last = quote;
    this.#isPlain = next === this.#separator || next === newline || next === carriageReturn;
    return 0;
  }

  /** Reads up to a quote and returns the position after it. */
  #readUntilQuote(chunk: Buffer, from: number): number {
    const found = chunk.indexOf(quote, from);
    const end = found < 0 ? chunk.length : found;
    const part = chunk.subarray(from, end);
    if (this.#isQuoted) {
      if (this.#offset + end - this.#rowStart > rowBytesMax) this.#isPlain = false;
    } else {
      this.#readRows(part, this.#offset + from);
      this.#last = part.at(-1) ?? this.#last;
    }
    if (found < 0) return end;
    if (this.#isQuoted) this.#isEnding = true;
    else this.#beginQuotes(this.#offset + found);
    return found + 1;
  }

  #beginQuotes(offset: number): void {
    const isAfterMark = offset === 3 && this.#last === markEnd;
    const isStart = this.#last === this.#separator || this.#last === newline || this.#last === carriageReturn;
    this.#isPlain &&= isStart || isAfterMark;
    this.#isQuoted = true;
  }

  /** Finds the last beginning of a row in a part without quotes, which begins at an offset. */
  #readRows(part: Buffer, offset: number): void {
    let rest = part;
    for (let start = offset; this.#isPlain; ) {
      const left = this.#rowStart + rowBytesMax - start;
      const isLong = rest.length > left;
      const looked = isLong ? rest.subarray(0, Math.max(0, left)) : rest;
      const end = Math.max(looked.lastIndexOf(newline), looked.lastIndexOf(carriageReturn)) + 1;
      if (end > 0) this.#rowStart = start + end;
      if (!isLong) return;
      this.#isPlain = end > 0;
      rest = rest.subarray(end);
      start += end;
    }
  }
}
