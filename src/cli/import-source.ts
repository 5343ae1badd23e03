import { createReadStream, fstatSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import type { ImportFormat } from '../import/read-valid-rows.ts';
import type { Spool } from '../import/spool.ts';
import { CommandError, UsageError } from './error.ts';
import type { FileIdentity } from './errors-file.ts';

/** The source of an import: a file, or standard input. */
export interface ImportSource {
  /** Name for people. */
  readonly name: string;
  /** Size in bytes of a file that can be read again; `undefined` for standard input and pipes. */
  readonly bytes: number | undefined;
  readonly format: ImportFormat;
  /** The file that the rows are read from. */
  readonly identity: FileIdentity | undefined;
  /**
   * Opens it from the beginning and reports each chunk's size; standard input and pipes open only
   * once unless they were stored.
   */
  open(onBytes?: (bytes: number) => void): AsyncIterable<Buffer>;
  /** Removes the stored copy. */
  dispose(): Promise<void>;
}

const extensions: Readonly<Record<string, ImportFormat>> = { '.csv': 'csv', '.ndjson': 'ndjson', '.jsonl': 'ndjson' };

/**
 * Finds a source and its format, which is `format` or derived from the file name. With `twice`, a
 * source that can be read only once, such as standard input or a pipe, is stored in the spool.
 */
export async function openImportSource(
  file: string,
  format: ImportFormat | undefined,
  twice: Spool | undefined,
): Promise<ImportSource> {
  const source = findSource(file, formatOf(file, format));
  if (twice === undefined || source.bytes !== undefined) return source;
  await twice.sweep();
  const kept = await twice.store(source.open());
  return { ...source, open: (onBytes) => counted(kept.open(), onBytes), dispose: () => kept.close() };
}

function formatOf(file: string, format: ImportFormat | undefined): ImportFormat {
  const unpackedName = file.replace(/\.(gz|gzip|zst|zstd)$/i, '');
  const known = format ?? extensions[extname(unpackedName).toLowerCase()];
  if (known !== undefined) return known;
  throw new UsageError(
    `Cannot determine the format of '${file}': its name must end in .csv, .ndjson or .jsonl, optionally followed by .gz or .zst, or --format must be csv or ndjson`,
  );
}

function findSource(file: string, format: ImportFormat): ImportSource {
  const dispose = async (): Promise<void> => undefined;
  if (file === '-') {
    const identity = fstatSync(0, { bigint: true });
    const open: ImportSource['open'] = (onBytes) => counted(process.stdin, onBytes);
    return { name: 'standard input', bytes: undefined, format, identity, open, dispose };
  }
  try {
    const stats = statSync(file, { bigint: true });
    if (stats.isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
    return {
      name: file,
      bytes: stats.isFile() ? Number(stats.size) : undefined, // a pipe has no size
      format,
      identity: stats,
      open: (onBytes) => counted(createReadStream(file), onBytes),
      dispose,
    };
  } catch (error) {
    throw new CommandError(
      `Cannot read '${file}': it must be a file that this user can read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}

async function* counted(
  stream: AsyncIterable<Buffer>,
  onBytes: (bytes: number) => void = () => undefined,
): AsyncGenerator<Buffer> {
  for await (const chunk of stream) {
    onBytes(chunk.length);
    yield chunk;
  }
}
