import { guardText, recordColumns, writeRecordLine } from '../../contract/csv.ts';
import { localText } from '../../contract/local-text.ts';
import { type RecordField, recordFields, valueAt } from '../../contract/record-fields.ts';
import type { Zone } from '../../contract/zone.ts';
import { storedEnd, storedFields } from './record-text.ts';

// CSV from the stored JSON of records. The values of a record are copied, in words of four bytes,
// if its JSON is as an import writes it and they need at most quotes. Other records are parsed,
// which takes ten times as long (docs/decisions/responses.md#report-formats).

/** The first line: the names of the columns. */
export const csvHeader = (fields: readonly string[] = recordColumns): Buffer => Buffer.from(writeRecordLine(fields));

/** The line of a record: all columns, or some in their order; dates in UTC unless in a zone. */
export function recordLine(record: object, columns: readonly RecordField[] = recordFields, zone?: Zone): string {
  return writeRecordLine(
    columns.map((field) => {
      const value = valueAt(record, field);
      if (value === undefined) return undefined;
      return guardText(field.type === 'instant' && zone !== undefined ? localText(zone, String(value)) : String(value));
    }),
  );
}

const viewOf = ({ buffer, byteOffset, byteLength }: Buffer): DataView => new DataView(buffer, byteOffset, byteLength);

const noRecords: Buffer = Buffer.alloc(0);

/** Bytes to add when the buffer grows, so that it is usually large enough for the next lines. */
const spareBytes = 64 * 1024;

/**
 * Converts records to CSV lines, in memory that it uses again for the next ones: as much as the
 * largest records needed.
 */
export class CsvLines {
  #memory: Buffer = noRecords;
  #words = viewOf(this.#memory);
  #records = this.#memory;
  #recordWords = this.#words;
  /** Where the next record begins, and its line. */
  #at = 0;
  #to = 0;

  /** Converts records, each followed by a line feed. The lines are valid until the next call. */
  convert(records: Buffer): Buffer {
    this.#records = records;
    this.#recordWords = viewOf(records);
    this.#at = 0;
    this.#to = 0;
    this.#reserve(0);
    while (this.#at < records.length) if (!this.#copyRecord()) this.#parseRecord();
    this.#records = noRecords; // may be a part of a larger buffer
    this.#recordWords = viewOf(noRecords);
    return this.#memory.subarray(0, this.#to);
  }

  /**
   * Makes room for some bytes, and for the lines of the remaining records: a line that is copied is
   * shorter than its record by more than the three bytes that `#copyText` writes past its end.
   */
  #reserve(bytes: number): void {
    const needed = this.#to + bytes + this.#records.length - this.#at;
    if (needed <= this.#memory.length) return;
    const larger = Buffer.allocUnsafeSlow(needed + spareBytes);
    this.#memory.copy(larger);
    this.#memory = larger;
    this.#words = viewOf(larger);
  }

  /** Copies the values of the next record; returns `false` if it must be parsed instead. */
  #copyRecord(): boolean {
    const records = this.#records;
    const lines = this.#memory;
    let at = this.#at;
    let to = this.#to;
    for (const column of layout) {
      if (column !== layout[0]) lines[to++] = comma;
      if (!follows(this.#recordWords, column, at, records.length)) {
        if (column.isOptional) continue;
        return false;
      }
      at += column.bytes;
      if (column.isText) {
        if (records[at++] !== quote) return false;
        const from = at;
        if (isGuarded[records[at] ?? 0] === 1) return false;
        // unlike an absent value
        if (records[at] === quote) {
          lines[to++] = quote;
          lines[to++] = quote;
        }
        at = this.#copyText(from, to, commas, semicolons);
        if (records[at] === comma || records[at] === semicolon) {
          // the cell has the same quotes as the JSON
          lines[to++] = quote;
          at = this.#copyText(from, to, quotes, quotes);
          lines[to + at - from] = quote;
          to += 1;
        }
        to += at - from;
        if (records[at++] !== quote) return false;
      } else {
        const from = at;
        for (let digit = records[at]; isDigit(digit); digit = records[at]) {
          lines[to++] = digit;
          at += 1;
        }
        if (at === from) return false;
      }
    }
    for (const byte of recordEnd) if (records[at++] !== byte) return false;
    lines[to++] = carriageReturn;
    lines[to++] = lineFeed;
    this.#at = at;
    this.#to = to;
    return true;
  }

  /**
   * Copies a text up to the first byte that ends it, or needs an escape, or is one of two others.
   * Returns where that is. Up to three bytes more are written, which what follows overwrites.
   */
  #copyText(from: number, to: number, first: number, second: number): number {
    const wordsEnd = this.#records.length - 3;
    let at = from;
    for (; at < wordsEnd; at += 4) {
      const word = this.#recordWords.getInt32(at, true);
      this.#words.setInt32(to + at - from, word, true);
      // the lowest bit that is set belongs to the first such byte
      const found =
        findControl(word) |
        findByte(word ^ quotes) |
        findByte(word ^ backslashes) |
        findByte(word ^ first) |
        findByte(word ^ second);
      if (found !== 0) return at + firstFound(found);
    }
    return at;
  }

  #parseRecord(): void {
    const end = this.#records.indexOf(lineFeed, this.#at) + 1;
    if (end === 0) throw new RangeError('Cannot convert a record to CSV: a line feed must follow it');
    const line = recordLine(JSON.parse(this.#records.toString('utf8', this.#at, end)));
    this.#at = end;
    this.#reserve(Buffer.byteLength(line));
    this.#to += this.#memory.write(line, this.#to);
  }
}

const [lineFeed, carriageReturn, quote, comma, semicolon] = [10, 13, 0x22, 0x2c, 0x3b];
const [quotes, commas, semicolons, backslashes] = [0x22222222, 0x2c2c2c2c, 0x3b3b3b3b, 0x5c5c5c5c];

/** The first bytes of strings that `guardText` may change; EF is that of the full-width ones. */
const isGuarded = new Uint8Array(256);
for (const byte of [...Buffer.from("=+-@'"), 0xef]) isGuarded[byte] = 1;

/** A value of a record, and the bytes before it to compare with. */
interface StoredColumn {
  readonly isText: boolean;
  readonly isOptional: boolean;
  readonly bytes: number;
  /** The last word may overlap the one before it. */
  readonly words: Int32Array;
}

const layout: readonly StoredColumn[] = storedFields.map(({ before, type, isOptional }) => {
  const bytes = Buffer.from(before);
  const words = Array.from({ length: Math.ceil(bytes.length / 4) }, (_, index) =>
    bytes.readInt32LE(Math.min(4 * index, bytes.length - 4)),
  );
  return { isText: type !== 'integer', isOptional, bytes: bytes.length, words: Int32Array.from(words) };
});

/** The last bytes of a record, and the line feed after it. */
const recordEnd = Buffer.from(`${storedEnd}\n`);

/** Whether the bytes at a position of `size` bytes are those before a value. */
function follows(records: DataView, { bytes, words }: StoredColumn, at: number, size: number): boolean {
  if (at + bytes > size) return false;
  const last = words.length - 1;
  for (let index = 0; index < last; index += 1)
    if (records.getInt32(at + 4 * index, true) !== words[index]) return false;
  return records.getInt32(at + bytes - 4, true) === words[last];
}

const highBits = 0x80808080;

/** Sets the high bit of each byte that is zero, and perhaps of bytes after the first of them. */
const findByte = (word: number): number => (word - 0x01010101) & ~word & highBits;

/** The same for each control character. */
const findControl = (word: number): number => (word - 0x20202020) & ~word & highBits;

/** The position of the first byte that was found, in a word that is not 0. */
const firstFound = (found: number): number => (31 - Math.clz32(found & -found)) >> 3;

const isDigit = (byte: number | undefined): byte is number => byte !== undefined && byte >= 0x30 && byte <= 0x39;
