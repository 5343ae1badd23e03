import { recordFields, valueAt } from '../../contract/record-fields.ts';
import type { Layout } from '../storage/utf8-column.ts';
import {
  layout as fieldLayout,
  findByte,
  findControl,
  firstFound,
  follows,
  isDigit,
  recordEnd,
  viewOf,
} from './record-layout.ts';

// Some fields of records, from their stored JSON. Their bytes are copied; a record whose JSON is
// not as an import writes it is parsed instead.

type Step = (typeof fieldLayout)[number] & {
  readonly isAsked: boolean;
  /** Where the name of the value begins in the bytes before it. */
  readonly nameAt: number;
  readonly opensProduct: boolean;
  readonly closesProduct: boolean;
};

/**
 * Copies the members of records that are in `fields`, names of `recordFields`, in the order of the
 * record.
 */
export class RecordProjection {
  readonly #steps: readonly Step[];
  readonly #asked: ReadonlySet<string>;
  readonly #hasProduct: boolean;
  #records: Buffer = noBytes;
  #recordWords = viewOf(noBytes);
  #output: Buffer = memory;
  #outputWords = viewOf(memory);
  /** Where the next record begins, and its copy. */
  #at = 0;
  #to = 0;

  constructor(fields: readonly string[]) {
    this.#asked = new Set(fields);
    this.#hasProduct = fields.some((name) => name.startsWith(productPrefix));
    this.#steps = fieldLayout.map((field, index) => ({
      ...field,
      isAsked: this.#asked.has(recordFields[index]?.name ?? ''),
      nameAt: field.before.lastIndexOf('"', field.before.length - 3),
      opensProduct: index > 0 && field.before.includes('{'),
      closesProduct: field.before.includes('}'),
    }));
  }

  /** Converts records, each followed by a line feed, to a layout, in memory of their own. */
  convert(records: Buffer, layout: Layout): Buffer {
    const isArray = layout === 'array';
    this.#records = records;
    this.#recordWords = viewOf(records);
    this.#output = memory;
    this.#outputWords = viewOf(memory);
    this.#at = 0;
    this.#to = 0;
    this.#reserve(0);
    if (isArray) this.#output[this.#to++] = bracket;
    while (this.#at < records.length) {
      if (!this.#copyRecord()) this.#parseRecord();
      this.#output[this.#to++] = isArray ? comma : lineFeed;
    }
    if (isArray) this.#output[Math.max(this.#to - 1, 1)] = endBracket;
    this.#records = noBytes; // may be a part of a larger buffer
    this.#recordWords = viewOf(noBytes);
    memory = this.#output;
    const bytes = isArray ? Math.max(this.#to, 2) : this.#to;
    const projected = Buffer.allocUnsafeSlow(bytes);
    memory.copy(projected, 0, 0, bytes);
    return projected;
  }

  /** Converts the JSON texts of records. */
  convertTexts(texts: readonly string[]): string[] {
    if (texts.length === 0) return [];
    const lines = this.convert(Buffer.from(`${texts.join('\n')}\n`), 'lines');
    return lines.toString('utf8', 0, lines.length - 1).split('\n');
  }

  /** Makes room for some bytes, and for the copies of the remaining records, which are shorter. */
  #reserve(bytes: number): void {
    const needed = this.#to + bytes + this.#records.length - this.#at + spareBytes;
    if (needed <= this.#output.length) return;
    const larger = Buffer.allocUnsafeSlow(needed);
    this.#output.copy(larger);
    this.#output = larger;
    this.#outputWords = viewOf(larger);
  }

  /** Copies the members of the next record; returns `false` if it must be parsed instead. */
  #copyRecord(): boolean {
    const size = this.#records.length;
    const output = this.#output;
    let at = this.#at;
    let to = this.#to;
    let isFirst = true;
    output[to++] = brace;
    for (const step of this.#steps) {
      if (!follows(this.#recordWords, step, at, size)) {
        if (step.isOptional) continue;
        return false;
      }
      if (step.opensProduct && this.#hasProduct) {
        if (!isFirst) output[to++] = comma;
        to += productStart.copy(output, to);
        isFirst = true;
      }
      if (step.closesProduct && this.#hasProduct) {
        output[to++] = endBrace;
        isFirst = false;
      }
      const from = at + step.nameAt;
      at = this.#endOfValue(at + step.bytes, step.isText);
      if (at < 0) return false;
      if (!step.isAsked) continue;
      if (!isFirst) output[to++] = comma;
      isFirst = false;
      this.#copy(from, at, to);
      to += at - from;
    }
    for (const byte of recordEnd) if (this.#records[at++] !== byte) return false;
    output[to++] = endBrace;
    this.#at = at;
    this.#to = to;
    return true;
  }

  /** The position after a value, or -1. */
  #endOfValue(from: number, isText: boolean): number {
    const records = this.#records;
    let at = from;
    if (!isText) {
      while (isDigit(records[at])) at += 1;
      return at === from ? -1 : at;
    }
    if (records[at++] !== quote) return -1;
    for (;;) {
      at = this.#endOfPlain(at);
      if (records[at] === quote) return at + 1;
      if (records[at] !== backslash) return -1;
      at += 2;
    }
  }

  /** The position of the next quote, backslash or control character; a line feed ends a record. */
  #endOfPlain(from: number): number {
    const wordsEnd = this.#records.length - 3;
    let at = from;
    for (; at < wordsEnd; at += 4) {
      const word = this.#recordWords.getInt32(at, true);
      const found = findControl(word) | findByte(word ^ quotes) | findByte(word ^ backslashes);
      if (found !== 0) return at + firstFound(found);
    }
    return at;
  }

  /** Copies bytes in words: up to three more are written, which what follows overwrites. */
  #copy(from: number, until: number, to: number): void {
    const wordsEnd = this.#records.length - 3;
    let at = from;
    for (; at < until && at < wordsEnd; at += 4)
      this.#outputWords.setInt32(to + at - from, this.#recordWords.getInt32(at, true), true);
    for (; at < until; at += 1) this.#output[to + at - from] = this.#records[at] ?? 0;
  }

  #parseRecord(): void {
    const end = this.#records.indexOf(lineFeed, this.#at);
    if (end < 0) throw new RangeError('Cannot select fields: a line feed must follow each record');
    const text = this.#selectFrom(JSON.parse(this.#records.toString('utf8', this.#at, end)));
    this.#at = end + 1;
    this.#reserve(Buffer.byteLength(text));
    this.#to += this.#output.write(text, this.#to);
  }

  #selectFrom(record: object): string {
    const selected: Record<string, unknown> = {};
    const product: Record<string, unknown> = {};
    for (const field of recordFields) {
      const [name = '', part] = field.path;
      if (part !== undefined && this.#hasProduct) selected[name] = product;
      if (this.#asked.has(field.name)) (part === undefined ? selected : product)[part ?? name] = valueAt(record, field);
    }
    return JSON.stringify(selected);
  }
}

const noBytes: Buffer = Buffer.alloc(0);

/**
 * Where records are copied to, for all projections: as much as the largest records needed. New
 * memory for each page, most of it unused, would keep the garbage collector busy.
 */
let memory = noBytes;
const productPrefix = 'product.';
const productStart = Buffer.from('"product":{');

/**
 * What a copy may need beyond the bytes of its records: the brackets of an array, and the bytes
 * that `#copy` writes past the end.
 */
const spareBytes = 8;

const [lineFeed, quote, comma, backslash] = [10, 0x22, 0x2c, 0x5c];
const [bracket, endBracket, brace, endBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
const [quotes, backslashes] = [0x22222222, 0x5c5c5c5c];
