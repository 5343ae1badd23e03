import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { checkCsvHeader, csvRowValue } from './csv-columns.ts';
import { ImportError } from './error.ts';
import { PendingBytes } from './pending-bytes.ts';
import { rowBytesMax, type SourceRow } from './source-row.ts';

/** Bytes without a row, from which on nothing of a source is what somebody meant to import. */
const gapBytesMax = 16 * rowBytesMax;

/**
 * What csv-parse gives for a record with `info` set; `bytes` reach from the beginning of the source
 * to the end of the record.
 */
interface ParsedRecord {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly bytes: number; readonly error?: CsvError };
}

/**
 * Reads CSV (RFC 4180, comma-separated, UTF-8, with a header row): a row for each record. A record
 * with too few or too many cells, or that is not UTF-8, is a row with its fault; a broken quotation
 * ends the reading, as nothing after it can be trusted.
 */
export async function* readCsv(source: AsyncIterable<Buffer>): AsyncGenerator<SourceRow> {
  const pending = new PendingBytes();
  let lines = 0; // that ended before the bytes that are pending
  const parser = parse({
    bom: true,
    columns: (header: readonly string[]) => {
      lines += countLines(pending.take(parser.info.bytes).toString('latin1'));
      return checkCsvHeader(header);
    },
    info: true,
    // each line may end in its own way; left out, the first line decides for all
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: rowBytesMax,
  });
  const input = Readable.from(inRows(source, pending));
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
        `Cannot import the CSV file past line ${error.lines ?? '?'}: it must be RFC 4180, with quotes doubled inside quotes: ${error.message}`,
      );
    }
    throw error;
  } finally {
    input.destroy();
  }
}

/** The source, unless a row does not end: the parser keeps what it skips, such as blank lines. */
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
 * A record by its bytes, which may end in a line end. The parser's cells have U+FFFD both for
 * itself and for what is not UTF-8, so the bytes are checked.
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

/** Line ends in a text: CRLF is one. */
const countLines = (text: string): number => text.match(/\r\n|[\r\n]/g)?.length ?? 0;
