import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { checkCsvHeader, csvRowValue } from './csv-columns.ts';
import { ImportError } from './error.ts';
import { rowBytesMax, type SourceRow } from './source-row.ts';

/** Bytes without a row, from which on nothing of a source is what somebody meant to import. */
const gapBytesMax = 16 * rowBytesMax;

/** What csv-parse gives for a record with `info` and `raw` set. */
interface ParsedRecord {
  readonly record: Readonly<Record<string, string>>;
  readonly raw: string;
  readonly info: { readonly lines: number; readonly bytes: number; readonly error?: CsvError };
}

/**
 * Reads CSV (RFC 4180, comma-separated, UTF-8, with a header row): a row for each record. A record with too few or too many cells, or that is not
 * UTF-8, is a row with its fault; a broken quotation ends the reading, as nothing after it can be trusted.
 */
export async function* readCsv(source: AsyncIterable<Buffer>): AsyncGenerator<SourceRow> {
  const parser = parse({
    bom: true,
    columns: checkCsvHeader,
    info: true,
    raw: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: rowBytesMax,
  });
  let done = 0; // bytes up to the end of the last row
  const input = Readable.from(inRows(source, () => done));
  input.on('error', (error) => parser.destroy(error));
  input.pipe(parser);
  try {
    for await (const parsed of parser) {
      const row = toRow(parsed as ParsedRecord);
      done = row.end;
      yield row;
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
async function* inRows(source: AsyncIterable<Buffer>, done: () => number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes - done() > gapBytesMax) {
      throw new ImportError(
        'UNREADABLE',
        `Cannot import the CSV file past ${done()} bytes: a row must follow within ${gapBytesMax} bytes`,
      );
    }
    yield chunk;
  }
}

function toRow({ record, raw, info }: ParsedRecord): SourceRow {
  const text = raw.replace(/^[\r\n]+/, '').replace(/\r?\n$/, ''); // with the blank lines before it, as the parser has it
  const line = info.lines - (text.match(/\n/g)?.length ?? 0);
  const fault = (rule: string): SourceRow => ({
    line,
    end: info.bytes,
    raw: text,
    content: { faults: [{ field: '', value: null, rule }] },
  });
  if (info.error !== undefined) return fault('a row with as many cells as the first line has');
  if (text.includes('\ufffd')) return fault('UTF-8 text');
  return { line, end: info.bytes, raw: text, content: { value: csvRowValue(record) } };
}
