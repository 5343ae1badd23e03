import { summaryStart } from '../../contract/report.ts';
import { type RowFault, rowBytesMax, type SourceRow } from './check-row.ts';
import { nothingLoaded } from './import-summary.ts';
import { separatorOf, showsSeparator } from './read-csv.ts';
import {
  checkSourceRow,
  decompressed,
  endTurn,
  noRowsYet,
  readRows,
  rejectRow,
  type SourceOptions,
} from './read-valid-rows.ts';
import type { Spool } from './spool.ts';

/** A source of rows that is to be read more than once. */
export interface ImportSource {
  /** In messages, such as the name of a file. */
  readonly name?: string;
  /** Its size, if known before it is read. */
  readonly bytes?: number | undefined;
  /** Reads it from its beginning; at most once if it has a spool. */
  readonly open: () => AsyncIterable<Buffer>;
  /** Keeps a source that can be read only once, such as standard input. */
  readonly spool?: Spool | undefined;
}

interface WholeReading extends SourceOptions {
  /** Whether another pass over all rows follows, before any is loaded. */
  readonly strict: boolean;
}

/**
 * Runs work on a source that can be read repeatedly, after a pass that proves it whole. A strict
 * import needs no such pass, because its own first pass proves it.
 */
export async function withWhole<T>(
  source: ImportSource,
  options: WholeReading,
  work: (whole: ImportSource) => Promise<T>,
): Promise<T> {
  const { bytes, open, spool } = source;
  if (spool === undefined) {
    if (!options.strict) await requireWhole(open, options);
    return work(source);
  }
  let isWhole = options.strict;
  const look = async (kept: AsyncIterable<Buffer>): Promise<void> => {
    isWhole = (await isPlain(kept, options)) || isWhole;
  };
  const stored = await spool.store(open(), look, bytes);
  try {
    if (!isWhole) await requireReadable(stored.open(), options);
    return await work({ ...source, open: stored.open });
  } finally {
    await stored.close();
  }
}

/**
 * Reads a source to its end and throws `ImportError` if it cannot be read as a whole, so that none
 * of its rows is loaded: compressed bytes that were cut, quotes that never end, an exported report
 * without its rest. `open` reads it from its beginning. A scan of the bytes suffices for most
 * sources; for the others, all rows are parsed, which costs a tenth of a load.
 */
export async function requireWhole(open: () => AsyncIterable<Buffer>, options: SourceOptions): Promise<void> {
  if (!(await isPlain(open(), options))) await requireReadable(open(), options);
}

/** Reads all rows of a source; throws `ImportError` if they cannot be read to their end. */
async function requireReadable(source: AsyncIterable<Buffer>, options: SourceOptions): Promise<void> {
  const rows = readRows(decompressed(source, options), { ...options, tally: noRowsYet() }, false);
  for await (const _ of rows) {
    const turn = endTurn();
    if (turn !== undefined) await turn;
  }
}

/**
 * Reads a source to its end and returns whether a scan of its bytes proves it whole. Its first rows
 * are parsed: throws `ImportError` as soon as they show that none of it can be loaded.
 */
async function isPlain(source: AsyncIterable<Buffer>, options: SourceOptions): Promise<boolean> {
  const scan: Scan = options.format === 'csv' ? new CsvScan() : new NdjsonScan();
  const chunks = scanned(decompressed(source, options), scan);
  try {
    if (await isReadWhole(chunks, options)) return true;
    for (let { done } = await chunks.next(); done !== true; ) ({ done } = await chunks.next());
    return scan.finish();
  } catch (error) {
    chunks.return(undefined).catch(() => undefined); // not awaited: its next bytes may never arrive
    throw error;
  }
}

async function* scanned(source: AsyncIterable<Buffer>, scan: Scan): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    scan.add(chunk);
    yield chunk;
  }
}

/** Ends the reading of the first rows; the chunks after them are still to be read. */
const endOfHead = new Error('the first rows are read');

/**
 * Reads rows until one is valid, or until the end of the source; returns whether that was reached.
 * Throws if more rows than allowed are rejected before.
 */
async function isReadWhole(chunks: AsyncIterator<Buffer>, options: SourceOptions): Promise<boolean> {
  let isKnown = false;
  const head = async function* (): AsyncGenerator<Buffer> {
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      yield next.value;
      if (isKnown) throw endOfHead;
    }
  };
  const { rejectedMax = 0 } = options;
  const rejected: [SourceRow, readonly RowFault[]][] = [];
  try {
    for await (const row of readRows(head(), { ...options, tally: noRowsYet() })) {
      if (isKnown) continue;
      const checked = checkSourceRow(row);
      if ('faults' in checked) rejected.push([{ ...row, raw: '' }, checked.faults]);
      if (rejected.length > rejectedMax && rejectedMax > 0) await rejectAll(rejected, options);
      isKnown = 'row' in checked || rejectedMax === 0;
      const turn = endTurn();
      if (turn !== undefined) await turn;
    }
    return true;
  } catch (error) {
    if (error === endOfHead) return false;
    throw error;
  }
}

/** Reports all rejected rows, then throws, because they are more than `rejectedMax`. */
async function rejectAll(rows: readonly [SourceRow, readonly RowFault[]][], options: SourceOptions): Promise<void> {
  const tally = noRowsYet();
  try {
    for (const [row, faults] of rows) {
      tally.read += 1;
      await rejectRow(row, faults, { ...options, tally });
    }
  } finally {
    options.onCounts?.({ ...tally, ...nothingLoaded });
  }
}

/** A scan of the bytes of a source. */
interface Scan {
  add(chunk: Buffer): void;
  /** Whether the bytes prove that the source is whole, without its rows being parsed. */
  finish(): boolean;
}

/** Detects a closing summary line; such a file needs its rows checked against it. */
class NdjsonScan implements Scan {
  readonly #summary = Buffer.from(summaryStart);
  #isPlain = true;
  #end: Buffer = Buffer.alloc(0);

  add(chunk: Buffer): void {
    const { length } = this.#summary;
    // also finds a summary that begins in one chunk and ends in the next
    const seam = Buffer.concat([this.#end, chunk.subarray(0, length)]);
    if (seam.includes(this.#summary) || chunk.includes(this.#summary)) this.#isPlain = false;
    this.#end = chunk.length < length ? seam.subarray(-length) : chunk.subarray(-length);
  }

  finish(): boolean {
    return this.#isPlain;
  }
}

const [quote, newline, carriageReturn] = [0x22, 0x0a, 0x0d];
/** The last byte of a byte order mark, after which a quote may begin a cell. */
const markEnd = 0xbf;

/** Whether the quotes of CSV are as RFC 4180 has them, and no row is too long. */
class CsvScan implements Scan {
  /** Chunks from which the separator is not known yet. */
  #head: Buffer | undefined = Buffer.alloc(0);
  #separator = 0;
  #isPlain = true;
  #isQuoted = false;
  /** Whether the last byte was a quote within quotes, which ends them or is doubled. */
  #isEnding = false;
  #last = newline;
  /** Offsets in the source: of the next byte, and of the beginning of a row. */
  #offset = 0;
  #rowStart = 0;

  add(chunk: Buffer): void {
    if (this.#head === undefined) this.#look(chunk);
    else {
      this.#head = Buffer.concat([this.#head, chunk]);
      if (showsSeparator(this.#head)) this.#lookAtHead(this.#head);
    }
  }

  finish(): boolean {
    if (this.#head !== undefined) this.#lookAtHead(this.#head);
    return this.#isPlain && (!this.#isQuoted || this.#isEnding);
  }

  #lookAtHead(head: Buffer): void {
    this.#separator = separatorOf(head).charCodeAt(0);
    this.#head = undefined;
    this.#look(head);
  }

  #look(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && this.#isPlain; ) {
      if (this.#isEnding) at += this.#endQuotes(chunk[at] ?? 0);
      else at = this.#readUntilQuote(chunk, at);
    }
    this.#offset += chunk.length;
  }

  /** Reads the byte after a quote within quotes; returns 1 if it doubles the quote, otherwise 0. */
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
