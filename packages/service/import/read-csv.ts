import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { revealText } from '../../contract/csv.ts';
import { type CsvSeparator, csvSeparatorOf, isBlankRow, isPreamble } from '../../contract/csv-header.ts';
import { isKnown } from '../../contract/known-values.ts';
import { readIccid } from '../../contract/read-iccid.ts';
import { readBoolean } from '../../contract/read-value.ts';
import type { RecordField } from '../../contract/record-fields.ts';
import { type RowFault, rowBytesMax, type SourceRow, shownValue } from './check-row.ts';
import { type Column, type ColumnMapping, type Layout, readLayout } from './csv-layout.ts';
import { utf8RuleOf } from './encoding.ts';
import { readHead, unreadable } from './source-head.ts';

/** After this many bytes without a row, the source is assumed not to be CSV. */
const gapBytesMax = 4_194_304;

/** A record from csv-parse; `bytes` count from the beginning of the source to its end. */
interface ParsedRecord {
  readonly record: readonly string[];
  readonly info: { readonly bytes: number };
}

/** How a CSV source is read. */
export interface CsvReading {
  readonly mapping?: ColumnMapping | undefined;
  /** Called for each row without a record: one of empty cells, or the header once more. */
  readonly onSkipped?: () => unknown;
}

/**
 * Reads CSV (RFC 4180, UTF-8, with a header row) and yields a row for each record. A record with
 * too few or too many cells, or that is not UTF-8, becomes a row with faults. A broken quotation
 * aborts the reading, because nothing after it can be trusted.
 */
export async function* readCsv(
  source: AsyncIterable<Buffer>,
  { mapping, onSkipped }: CsvReading = {},
): AsyncGenerator<SourceRow> {
  const { head, whole } = await readHead(source, showsSeparator);
  const separator = separatorOf(head);
  const pending = new PendingBytes();
  const parser = parse({
    bom: true,
    delimiter: separator,
    info: true,
    // accepts mixed line ends; by default, the first line end is required of all lines
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: rowBytesMax,
  });
  const input = Readable.from(inRows(whole, pending));
  input.on('error', (error) => parser.destroy(error));
  input.pipe(parser);
  let table: Table | undefined;
  let lines = 0;
  try {
    for await (const parsed of parser) {
      const { record, info } = parsed as ParsedRecord;
      const bytes = pending.take(info.bytes);
      const text = bytes.toString('latin1');
      const blank = /^[\r\n]*/.exec(text)?.[0] ?? '';
      const line = lines + countLines(blank) + 1;
      lines += countLines(text);
      if (table === undefined) table = readHeader(record, bytes, separator, mapping);
      else if (isBlankRow(record) || isHeader(record, table)) onSkipped?.();
      else yield { line, ...readRecord(bytes.subarray(blank.length), record, table) };
    }
    if (table === undefined) throw unreadable('it must have a header and rows: it is empty; export it again');
  } catch (error) {
    if (error instanceof CsvError) throw unreadable(describeBreak(error));
    throw error;
  } finally {
    input.destroy();
  }
}

/** Our messages for the parser's errors, whose own messages quote the source. */
const breaks: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  INVALID_OPENING_QUOTE: 'a quote begins within a cell',
  CSV_INVALID_CLOSING_QUOTE: 'text follows the quote that closes a cell',
  CSV_MAX_RECORD_SIZE: `a row has more than ${rowBytesMax} bytes`,
};

function describeBreak({ code, lines = 1, column }: CsvError): string {
  const cell = typeof column === 'number' ? ` (cell ${column + 1})` : '';
  return `up to line ${lines}, it must be RFC 4180, with quotes doubled inside quotes: ${breaks[code] ?? code}${cell}`;
}

/** The layout of a source, and what separates its cells. */
type Table = Layout & { readonly separator: CsvSeparator };

/** Reads the header of a source; `undefined` for a row before it. */
function readHeader(cells: readonly string[], bytes: Buffer, separator: CsvSeparator, mapping?: ColumnMapping) {
  if (isBlankRow(cells) || isPreamble(cells)) return undefined;
  if (!isUtf8(bytes)) throw unreadable(`its first line must be ${utf8RuleOf(bytes)}`);
  return { ...readLayout(cells, mapping), separator };
}

/** Whether a row is the header again, as in files that were joined. */
const isHeader = (cells: readonly string[], { header }: Layout): boolean =>
  cells[0]?.replace('\ufeff', '').trim() === header[0] &&
  cells.length >= header.length &&
  header.every((name, at) => at === 0 || cells[at]?.trim() === name);

/** Whether the first bytes of a source are enough to determine its separator. */
export const showsSeparator = (head: Buffer): boolean =>
  head.length > rowBytesMax || /[^\r\n][\r\n]+[^\r\n]+[\r\n]/.test(head.toString('latin1'));

/** Determines the separator of a source from its first lines. */
export const separatorOf = (head: Buffer): CsvSeparator => csvSeparatorOf(head.toString('utf8'));

/**
 * Yields the source and throws if a row does not end: the parser buffers everything it skips, such
 * as blank lines.
 */
async function* inRows(source: AsyncIterable<Buffer>, pending: PendingBytes): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    pending.push(chunk);
    if (pending.length > gapBytesMax) {
      throw unreadable(`past ${pending.start} bytes, a row must follow within ${gapBytesMax} bytes`);
    }
    yield chunk;
  }
}

/**
 * Reads a record from its bytes, which may end with a line end. The bytes are needed because the
 * parser's cells show U+FFFD both for itself and for invalid UTF-8.
 */
function readRecord(bytes: Buffer, cells: readonly string[], table: Table): Pick<SourceRow, 'raw' | 'content'> {
  const isText = isUtf8(bytes);
  const raw = bytes.toString(isText ? 'utf8' : 'latin1').replace(/[\r\n]+$/, '');
  const rule = isText ? ruleOfCells(cells, table) : utf8RuleOf(bytes);
  if (rule !== undefined) return { raw, content: { faults: [{ field: '', value: null, rule }] } };
  return { raw, content: csvRowContent(cells, raw, table) };
}

/** The rule that the cells of a row break, whatever their columns mean. */
function ruleOfCells(cells: readonly string[], { header, unnamed, width, columns }: Layout): string | undefined {
  // a spreadsheet writes a separator too many, or leaves out the last ones
  if (cells.length < width || cells.some((cell, at) => at >= header.length && cell !== ''))
    return `a row with as many cells as the first line has, ${header.length}: it has ${cells.length}`;
  const stray = unnamed.find((at) => (cells[at] ?? '').trim() !== '');
  if (stray !== undefined) return `without a value in cell ${stray + 1}, as its column has no name`;
  if (columns.some(({ at }) => cells[at] === '\\N'))
    return 'without a cell \\N, which MySQL writes for NULL; export it as an empty cell';
  const required = columns.filter(({ field }) => field?.isOptional === false && !field.mayBeEmpty);
  const empty = required.filter(({ at }) => cells[at] === '').length;
  if (required.length - empty <= 1)
    return `a record: ${empty} of its ${required.length} required cells are empty; remove it if it has totals or a note`;
  return undefined;
}

/** Number of line ends; CRLF counts as one. */
const countLines = (text: string): number => text.match(/\r\n|[\r\n]/g)?.length ?? 0;

/**
 * Converts a row of a CSV source to the value that it has in NDJSON. An empty cell is an absent
 * field, except for a device id, which is required and may be an empty string, and for other
 * strings if the cell is quoted, as our CSV reports write an empty string. Removes the apostrophe
 * that our CSV reports put before a string that a spreadsheet would run as a formula. A mapping may
 * say what a cell means.
 */
function csvRowContent(cells: readonly string[], raw: string, table: Table): SourceRow['content'] {
  const faults: RowFault[] = [];
  const value: Record<string, unknown> = {};
  const product: Record<string, unknown> = {};
  const set = (name: string, field: RecordField | undefined, text: string): void => {
    if (field?.path[1] === undefined) value[name] = text;
    else product[field.path[1]] = text;
  };
  for (const column of table.columns) {
    const { name, field, at, values } = column;
    const cell = cells[at] ?? '';
    const meaning = values?.get(revealText(cell));
    const isEmpty = (meaning ?? cell) === '';
    if (isEmpty && (!field?.mayBeEmpty || (field.isOptional && !isQuoted(at, raw, table.separator)))) continue;
    // the digits are tested first: reading them takes 0.2 µs
    const isWritten = name === 'iccid' && !/^\d+$/.test(cell);
    const text = meaning ?? (isWritten ? readIccid(revealText(cell)) : revealText(cell));
    if (values !== undefined && meaning === undefined) faults.push(...faultsOf(column, values, text));
    set(name, field, text);
  }
  for (const [name, field, text] of table.constants) set(name, field, text);
  return faults.length > 0 ? { faults } : { value: { ...value, product } };
}

/** The fault of a text that the mapping does not have, unless it is valid by itself. */
function faultsOf({ name, field }: Column, values: ReadonlyMap<string, string>, text: string): RowFault[] {
  if (field === undefined) return [];
  const given = [...values];
  // where 1 means false, 0 may mean true
  const isTurned =
    field.type === 'boolean' &&
    given.some(([word, meaning]) => ![undefined, readBoolean(meaning)].includes(readBoolean(word)));
  if (!isTurned && (isKnown(field, text) || given.some(([, meaning]) => meaning === text))) return [];
  const [code, meaning] = given[0] ?? [];
  const others = isTurned ? '' : `, or a valid value, such as '${meaning}'`;
  return [{ field: name, value: shownValue(text), rule: `in 'values' of the mapping, as '${code}' is${others}` }];
}

/** Whether an empty cell is written as two quotes. */
function isQuoted(at: number, raw: string, separator: CsvSeparator): boolean {
  if (!raw.includes('""')) return false;
  const cell = new RegExp(`("(?:[^"]|"")*"|[^${separator}]*)(?:[${separator}]|$)`, 'g');
  return [...raw.matchAll(cell)][at]?.[1] === '""';
}

/** Bytes of a source that have been read but do not belong to a finished row yet. */
class PendingBytes {
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
