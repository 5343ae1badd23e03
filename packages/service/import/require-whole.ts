import type { CsvSeparator } from '../../contract/csv-header.ts';
import { rowBytesMax } from './check-row.ts';
import { separatorOf, showsSeparator } from './read-csv.ts';
import { readNdjson } from './read-ndjson.ts';
import { decompressed, endTurn, noRowsYet, readRows, type SourceOptions } from './read-valid-rows.ts';
import { readHead } from './source-head.ts';
import type { Spool } from './spool.ts';

/** A source of rows. */
export interface ImportSource {
  /** Its size, if known before it is read. */
  readonly bytes?: number | undefined;
  /** Reads it from its beginning; at most once if it has a spool. */
  readonly open: () => AsyncIterable<Buffer>;
  /** Keeps a source that can be read only once, such as standard input, for a tenant. */
  readonly spool?: Spool | undefined;
  readonly tenant?: string;
}

/** Runs work on a source that `open` reads again, after it was read to its end. */
export async function withWhole<T>(
  { bytes, open, spool, tenant }: ImportSource,
  options: SourceOptions,
  work: (open: ImportSource['open']) => Promise<T>,
): Promise<T> {
  if (spool === undefined) {
    await requireWhole(open, options);
    return work(open);
  }
  const stored = await spool.store(open(), bytes, tenant);
  try {
    await requireWhole(stored.open, options);
    return await work(stored.open);
  } finally {
    await stored.close();
  }
}

/**
 * Reads a source to its end and throws `ImportError` if it cannot be read as a whole, so that none
 * of its rows is loaded: compressed bytes that were cut, an exported report without all of its
 * rows, quotes of CSV that never end. `open` reads it from its beginning.
 */
export async function requireWhole(open: ImportSource['open'], options: SourceOptions): Promise<void> {
  const bytes = decompressed(open(), options);
  if (options.format === 'csv' && (await hasPlainLines(bytes))) return;
  const rows =
    options.format === 'ndjson'
      ? readNdjson(bytes, () => ({ value: undefined })) // need not be parsed
      : readRows(decompressed(open(), options), { ...options, tally: noRowsYet() });
  for await (const _ of rows) {
    const turn = endTurn();
    if (turn !== undefined) await turn;
  }
}

/**
 * Reads CSV to its end and returns whether each line is a row by itself, as most sources are:
 * otherwise its rows must be parsed, which takes an eighth of a load.
 */
async function hasPlainLines(source: AsyncIterable<Buffer>): Promise<boolean> {
  const { head, whole } = await readHead(source, showsSeparator);
  const plainLine = plainLineOf(separatorOf(head));
  const isPlainLine = (line: string): boolean => line.length <= rowBytesMax && plainLine.test(line);
  let rest = '';
  let isPlain = true;
  for await (const chunk of whole) {
    if (!isPlain) continue; // its compressed bytes may have been cut
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    isPlain = rest.length <= rowBytesMax && lines.every(isPlainLine);
  }
  return isPlain && (rest === '' || isPlainLine(rest));
}

/** Cells, in quotes or without any (RFC 4180). Not a blank line: the parser buffers these. */
function plainLineOf(separator: CsvSeparator): RegExp {
  const cell = `(?:[^"${separator}]*|"[^"]*(?:""[^"]*)*")`;
  return new RegExp(`^(?!\\r?$)(?:\\xef\\xbb\\xbf)?${cell}(?:[${separator}]${cell})*\\r?$`);
}
