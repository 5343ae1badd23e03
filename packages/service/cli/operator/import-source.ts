import { type BigIntStats, createReadStream, fstatSync, readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import type { ServerChoice } from '../../../cli/remote/server.ts';
import { mappingMax, savedMapping } from '../../../contract/load.ts';
import { shorten } from '../../../contract/problem.ts';
import { readFailure, UsageError } from '../../../terminal/error.ts';
import { MappingError, parseMapping } from '../../import/column-mapping.ts';
import type { ColumnMapping } from '../../import/csv-layout.ts';
import { ImportError } from '../../import/error.ts';
import type { ImportFormat } from '../../import/read-valid-rows.ts';
import { readBytes } from '../../import/spool.ts';
import type { FileIdentity } from './errors-file.ts';

export interface ImportSource {
  readonly name: string;
  /** Size in bytes of a regular file; `undefined` for standard input and pipes. */
  readonly bytes: number | undefined;
  readonly format: ImportFormat;
  readonly identity: FileIdentity | undefined;
  /** Which columns of CSV are which fields. */
  readonly mapping: ColumnMapping | typeof savedMapping | undefined;
  /**
   * Opens the source from the start and reports how many bytes were read so far. Standard input and
   * pipes can be opened once.
   */
  open(onBytes?: (bytes: number) => void): AsyncIterable<Buffer>;
}

const extensions: Readonly<Record<string, ImportFormat>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  // their first bytes are refused, with a remedy
  ...{ '.json': 'ndjson', '.parquet': 'ndjson', '.xlsx': 'ndjson' },
};

/** Opens a source and determines its format, from the option or from the extension. */
export function openImportSource(
  file: string,
  options: Pick<ImportCommandOptions, 'format' | 'columns'>,
): ImportSource {
  const source = findSource(file); // first: a file that is missing has no format
  const format = formatOf(file, options.format);
  return { ...source, format, mapping: readMapping(options.columns, format) };
}

function formatOf(file: string, format: ImportFormat | undefined): ImportFormat {
  const decompressedName = file.replace(/\.(gz|gzip|zst|zstd)$/i, '');
  const known = format ?? extensions[extname(decompressedName).toLowerCase()];
  if (known !== undefined) return known;
  throw new UsageError(
    `Cannot determine the format of '${file}': its name must end in .csv, .ndjson or .jsonl, optionally followed by .gz or .zst, or --format must be csv or ndjson`,
  );
}

function findSource(file: string): Omit<ImportSource, 'format' | 'mapping'> {
  if (file === '-') {
    const identity = fstatSync(0, { bigint: true });
    const open: ImportSource['open'] = (onBytes) => counted(process.stdin, onBytes);
    return { name: 'standard input', bytes: undefined, identity, open };
  }
  try {
    const stats = statSync(file, { bigint: true });
    if (stats.isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
    return {
      name: file,
      bytes: stats.isFile() ? Number(stats.size) : undefined, // a pipe has no size
      identity: stats,
      open: (onBytes) => counted(unchanged(file, stats), onBytes),
    };
  } catch (error) {
    throw readFailure(file, error);
  }
}

/** Reads a file from its start; throws `ImportError` if it is written or replaced meanwhile. */
async function* unchanged(file: string, before: BigIntStats): AsyncGenerator<Buffer> {
  yield* createReadStream(file, { highWaterMark: readBytes });
  if (!before.isFile()) return;
  const after = statSync(file, { bigint: true });
  if ((['dev', 'ino', 'size', 'mtimeNs'] as const).every((name) => after[name] === before[name])) return;
  throw new ImportError(
    'UNREADABLE',
    `Cannot import '${shorten(file)}': the file must not change while it is read; import it again once it is complete`,
  );
}

function readMapping(file: string | undefined, format: ImportFormat): ImportSource['mapping'] {
  if (file === undefined) return undefined;
  if (format !== 'csv') throw new UsageError('Cannot use --columns: it must be combined with CSV, as NDJSON has none');
  return file === savedMapping ? savedMapping : readMappingFile(file);
}

/** Reads a mapping of columns; throws `UsageError` if it cannot be used. */
export function readMappingFile(file: string): ColumnMapping {
  try {
    // Do not read a file that must be too long (a character has at most four bytes); a pipe reports
    // size 0, so the text is checked again below.
    const text = statSync(file).size > 4 * mappingMax ? undefined : readFileSync(file, 'utf8');
    if (text === undefined || text.length > mappingMax)
      throw new MappingError(`it must have at most ${mappingMax} characters`);
    return parseMapping(text);
  } catch (error) {
    if (error instanceof MappingError) throw new UsageError(`Cannot use '${shorten(file)}': ${error.rule}`);
    throw readFailure(file, error);
  }
}

async function* counted(
  stream: AsyncIterable<Buffer>,
  onBytes: (bytes: number) => void = () => undefined,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    onBytes(bytes);
    yield chunk;
  }
}

export interface ImportCommandOptions extends ServerChoice {
  readonly tenant: string;
  readonly format?: ImportFormat;
  readonly dryRun?: boolean;
  readonly strict?: boolean;
  readonly columns?: string;
  readonly encoding?: string | undefined;
  readonly replace?: boolean;
  readonly remove?: number;
  readonly errors?: string;
  readonly json?: boolean;
}

/** The parameters of the load that are true or false. */
export const flagsOf = ({ replace = false, strict = false, dryRun = false }: ImportCommandOptions) => ({
  replace,
  strict,
  'dry-run': dryRun,
});
