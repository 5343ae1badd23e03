import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { recordColumns, revealText } from '../../contract/csv.ts';

import { shorten } from '../../contract/problem.ts';
import { type RecordField, recordFields } from '../../contract/record-fields.ts';
import { didYouMean } from '../../contract/suggest.ts';
import { rowBytesMax, type SourceRow } from './check-row.ts';
import { ImportError } from './error.ts';

/** Bytes without a row after which the source is assumed to be no CSV at all. */
const gapBytesMax = 4_194_304;

/**
 * A record from csv-parse with the `info` option; `bytes` count from the beginning of the source to
 * the end of the record.
 */
interface ParsedRecord {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly bytes: number; readonly error?: CsvError };
}

/**
 * Reads CSV (RFC 4180, UTF-8, with a header row, separated by commas or semicolons) and yields a
 * row for each record. A record with too few or too many cells, or that is not UTF-8, becomes a row
 * with faults. A broken quotation aborts the reading, because nothing after it can be trusted.
 */
export async function* readCsv(source: AsyncIterable<Buffer>): AsyncGenerator<SourceRow> {
  const { separator, whole } = await readSeparator(source);
  const pending = new PendingBytes();
  let lines = 0; // lines that end before the pending bytes
  const parser = parse({
    bom: true,
    delimiter: separator,
    columns: (header: readonly string[]) => {
      lines += countLines(pending.take(parser.info.bytes).toString('latin1'));
      return checkCsvHeader(header);
    },
    info: true,
    // each line may end in its own way; by default, the first line decides for all
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: rowBytesMax,
  });
  const input = Readable.from(inRows(whole, pending));
  input.on('error', (error) => parser.destroy(error));
  input.pipe(parser);
  try {
    for await (const parsed of parser) {
      const { record, info } = parsed as ParsedRecord;
      const bytes = pending.take(info.bytes);
      const text = bytes.toString('latin1');
      const blank = /^[\r\n]*/.exec(text)?.[0] ?? '';
      yield {
        line: lines + countLines(blank) + 1,
        end: info.bytes,
        ...readRecord(bytes.subarray(blank.length), record, { separator, isUneven: info.error !== undefined }),
      };
      lines += countLines(text);
    }
  } catch (error) {
    if (error instanceof CsvError) {
      throw new ImportError(
        'UNREADABLE',
        `Cannot import the CSV file past line ${error.lines ?? '?'}: it must be RFC 4180, with quotes doubled inside quotes: ${shorten(error.message, 200)}`,
      );
    }
    throw error;
  } finally {
    input.destroy();
  }
}

type Separator = ',' | ';';

/**
 * Finds out how a source is separated, from its first line: no column has a comma or a semicolon in
 * its name. Excel separates by semicolons where numbers have decimal commas.
 */
async function readSeparator(
  source: AsyncIterable<Buffer>,
): Promise<{ readonly separator: Separator; readonly whole: AsyncIterable<Buffer> }> {
  const chunks = source[Symbol.asyncIterator]();
  const head: Buffer[] = [];
  let text = '';
  while (!/[^\r\n][\r\n]/.test(text) && text.length <= rowBytesMax) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    head.push(value);
    text += value.toString('latin1');
  }
  const [header = ''] = /[^\r\n]+/.exec(text) ?? [];
  return { separator: header.includes(';') && !header.includes(',') ? ';' : ',', whole: rejoin(head, chunks) };
}

/** Yields what was read of a source, then the rest. */
async function* rejoin(head: readonly Buffer[], chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* head;
    yield* { [Symbol.asyncIterator]: () => chunks };
  } finally {
    await chunks.return?.();
  }
}

/**
 * Yields the source and throws if a row does not end: the parser buffers everything it skips, such
 * as blank lines.
 */
async function* inRows(source: AsyncIterable<Buffer>, pending: PendingBytes): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    pending.push(chunk);
    if (pending.length > gapBytesMax) {
      throw new ImportError(
        'UNREADABLE',
        `Cannot import the CSV file past ${pending.start} bytes: a row must follow within ${gapBytesMax} bytes`,
      );
    }
    yield chunk;
  }
}

/**
 * Reads a record from its bytes, which may end with a line end. The bytes are needed because the
 * parser's cells show U+FFFD both for itself and for invalid UTF-8.
 */
function readRecord(
  bytes: Buffer,
  record: ParsedRecord['record'],
  { separator, isUneven }: { readonly separator: Separator; readonly isUneven: boolean },
): Pick<SourceRow, 'raw' | 'content'> {
  const isText = isUtf8(bytes);
  const raw = bytes.toString(isText ? 'utf8' : 'latin1').replace(/[\r\n]+$/, '');
  const fault = (rule: string) => ({ raw, content: { faults: [{ field: '', value: null, rule }] } });
  if (isUneven) return fault('a row with as many cells as the first line has');
  return isText ? { raw, content: { value: csvRowValue(record, raw, separator) } } : fault('UTF-8 text');
}

/** Number of line ends; CRLF counts as one. */
const countLines = (text: string): number => text.match(/\r\n|[\r\n]/g)?.length ?? 0;

/**
 * The columns of a CSV source: the fields of a record, `product.…` for those of its product, and
 * the subscriber's email.
 */
export const csvColumns: readonly string[] = [...recordColumns, 'email'];

const fieldOf: ReadonlyMap<string, RecordField> = new Map(recordFields.map((field) => [field.name, field]));

/** Most unknown or repeated names that an error lists: a line of 16 KiB may have 8,000. */
const unknownMax = 16;

/** Returns the trimmed header row of a CSV source; throws an error that lists every fault. */
function checkCsvHeader(header: readonly string[]): string[] {
  const names = header.map((name) => name.trim());
  const faults = [
    ...names
      .filter((name) => !csvColumns.includes(name))
      .slice(0, unknownMax)
      .map((name) => `'${shorten(name)}' is not a column${didYouMean(name, csvColumns)}`),
    ...names
      .filter((name, index) => names.indexOf(name) !== index)
      .slice(0, unknownMax)
      .map((name) => `'${shorten(name)}' stands twice`),
    ...csvColumns
      .filter((name) => fieldOf.get(name)?.isOptional === false && !names.includes(name))
      .map((name) => `'${name}' is missing`),
  ];
  if (faults.length > 0) {
    throw new ImportError(
      'UNREADABLE',
      `Cannot import the CSV file: its first line must name the columns ${csvColumns.join(',')}: ${faults.join('; ')}`,
    );
  }
  return names;
}

/**
 * Converts a row of a CSV source to the value that the same row has in NDJSON. An empty cell is an
 * absent field, but for a device id, which is required and may be an empty string, and for other
 * strings if the cell is quoted, as our CSV reports write an empty string. Removes the apostrophe
 * that our CSV reports put before a string that a spreadsheet would run as a formula.
 */
function csvRowValue(cells: Readonly<Record<string, string>>, raw: string, separator: Separator): unknown {
  const value: Record<string, unknown> = {};
  const product: Record<string, unknown> = {};
  for (const [column, cell] of Object.entries(cells)) {
    const field = fieldOf.get(column);
    if (cell === '' && (!field?.mayBeEmpty || (field.isOptional && !isQuoted(column, cells, raw, separator)))) continue;
    const text = revealText(cell);
    const shown = field?.type === 'integer' && /^\d{1,9}$/.test(text) ? Number(text) : text;
    if (field?.path[1] === undefined) value[column] = shown;
    else product[field.path[1]] = shown;
  }
  return { ...value, product };
}

/** Whether an empty cell is written as two quotes. */
function isQuoted(column: string, cells: Readonly<Record<string, string>>, raw: string, separator: Separator): boolean {
  if (!raw.includes('""')) return false;
  const written = [...raw.matchAll(separator === ',' ? cellBeforeComma : cellBeforeSemicolon)];
  return written[Object.keys(cells).indexOf(column)]?.[1] === '""';
}

const cellBeforeComma = /("(?:[^"]|"")*"|[^,]*)(?:,|$)/g;
const cellBeforeSemicolon = /("(?:[^"]|"")*"|[^;]*)(?:;|$)/g;

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
