import { createReadStream, createWriteStream, fstatSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ImportFormat } from '../import/read-good-rows.ts';
import { CommandError, UsageError } from './error.ts';
import type { FileIdentity } from './errors-file.ts';

/** Where an import reads from: a file, or standard input. */
export interface ImportSource {
  /** Name for people. */
  readonly name: string;
  /** Size in bytes, when it is known. */
  readonly bytes: number | undefined;
  readonly format: ImportFormat;
  /** The file that the rows are read from. */
  readonly identity: FileIdentity | undefined;
  /** Opens it from the beginning, told of each chunk's size; standard input opens once unless it was kept. */
  open(onBytes?: (bytes: number) => void): AsyncIterable<Buffer>;
  /** Removes what was kept. */
  dispose(): void;
}

const extensions: Readonly<Record<string, ImportFormat>> = { '.csv': 'csv', '.ndjson': 'ndjson', '.jsonl': 'ndjson' };

/** Finds a source and its format: as said, or by the end of the file's name. With `twice`, standard input is kept in a file so that it can be read again. */
export async function openImportSource(
  file: string,
  format: ImportFormat | undefined,
  twice: boolean,
): Promise<ImportSource> {
  const unpackedName = file.replace(/\.(gz|gzip|zst|zstd)$/i, '');
  const known = format ?? extensions[extname(unpackedName).toLowerCase()];
  if (known === undefined) {
    throw new UsageError(
      `Cannot tell the format of '${file}': its name must end in .csv, .ndjson or .jsonl, packed ones with .gz or .zst behind it, or --format must say csv or ndjson`,
    );
  }
  if (file !== '-') return fileSource(file, known);
  if (!twice)
    return {
      name: 'standard input',
      bytes: undefined,
      format: known,
      identity: fstatSync(0, { bigint: true }),
      open: (onBytes) => counted(process.stdin, onBytes),
      dispose: () => undefined,
    };
  const folder = mkdtempSync(join(tmpdir(), 'subreport-import-'));
  const kept = join(folder, 'input');
  await pipeline(process.stdin, createWriteStream(kept, { mode: 0o600 }));
  return {
    ...fileSource(kept, known),
    name: 'standard input',
    identity: fstatSync(0, { bigint: true }),
    dispose: () => rmSync(folder, { recursive: true }),
  };
}

function fileSource(file: string, format: ImportFormat): ImportSource {
  try {
    const stats = statSync(file, { bigint: true });
    if (stats.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
    const bytes = stats.isFile() ? Number(stats.size) : undefined; // a pipe has no size
    return {
      name: file,
      bytes,
      format,
      identity: stats,
      open: (onBytes) => counted(createReadStream(file), onBytes),
      dispose: () => undefined,
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
