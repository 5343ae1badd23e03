import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { shorten } from '../contract/shorten.ts';
import { checkCsvHeader, csvRowValue } from './csv-columns.ts';
import { ImportError } from './error.ts';
import { PendingBytes } from './pending-bytes.ts';
import { rowBytesMax, type SourceRow } from './source-row.ts';

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
        ...readRecord(bytes.subarray(blank.length), record, info.error !== undefined),
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

/**
 * Finds out how a source is separated, from its first line: no column has a comma or a semicolon in
 * its name. Excel separates by semicolons where numbers have decimal commas.
 */
async function readSeparator(
  source: AsyncIterable<Buffer>,
): Promise<{ readonly separator: ',' | ';'; readonly whole: AsyncIterable<Buffer> }> {
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
  isUneven: boolean,
): Pick<SourceRow, 'raw' | 'content'> {
  const isText = isUtf8(bytes);
  const raw = bytes.toString(isText ? 'utf8' : 'latin1').replace(/[\r\n]+$/, '');
  const fault = (rule: string) => ({ raw, content: { faults: [{ field: '', value: null, rule }] } });
  if (isUneven) return fault('a row with as many cells as the first line has');
  return isText ? { raw, content: { value: csvRowValue(record) } } : fault('UTF-8 text');
}

/** Number of line ends; CRLF counts as one. */
const countLines = (text: string): number => text.match(/\r\n|[\r\n]/g)?.length ?? 0;
