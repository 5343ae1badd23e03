import { type BigIntStats, constants, createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, rm, stat } from 'node:fs/promises';
import { CommandError, isDiskFull } from '../../../terminal/error.ts';
import type { RejectedRow } from '../../import/read-valid-rows.ts';

interface ErrorsFile {
  /** Keeps the first `rows` rows and truncates the rest, for an import that is resumed. */
  truncate(rows: number): Promise<void>;
  /** Resolves when the row has been written. */
  write(row: RejectedRow): Promise<void>;
  close(): Promise<void>;
}

/** Identifies a file independent of its path. */
export type FileIdentity = Pick<BigIntStats, 'dev' | 'ino'>;

/**
 * Opens the file for rejected rows. A resumed import appends to it; any other replaces it, so that
 * no link leads the rows elsewhere, and nobody keeps the right to read them. Throws `CommandError`
 * if it cannot be written, is a symbolic link, or is the file that is imported.
 */
export async function openErrorsFile(
  file: string,
  resume: boolean,
  source: FileIdentity | undefined,
): Promise<ErrorsFile> {
  const target = await stat(file, { bigint: true }).catch(() => undefined);
  if (source !== undefined && target?.dev === source.dev && target.ino === source.ino)
    throw new CommandError(`Cannot write rejected rows to '${file}': it must not be the file that is imported`);
  const found = await lstat(file).catch(() => undefined);
  if (!resume && found?.isFile() === true) await rm(file).catch(cannotWrite(file));
  const isNew = found === undefined || (!resume && found.isFile());
  const { O_APPEND, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
  const flags = O_APPEND | O_WRONLY | (isNew ? O_CREAT | O_EXCL : O_NOFOLLOW);
  // mode 0600, because rejected rows may contain email addresses
  const handle = await open(file, flags, 0o600).catch(cannotWrite(file));
  if (found?.isFile() === true) await handle.chmod(0o600).catch(cannotWrite(file));
  return {
    truncate: (rows) => keepLines(file, handle, rows).catch(cannotWrite(file)),
    write: (row) => handle.appendFile(`${JSON.stringify(row)}\n`).catch(cannotWrite(file)),
    close: () => handle.close(),
  };
}

const cannotWrite =
  (file: string) =>
  (error: NodeJS.ErrnoException): never => {
    const { code } = error;
    throw new CommandError(
      isDiskFull(error)
        ? `Cannot write '${file}': its disk must have enough space for the rejected rows (${code}); the import stopped, run it again with --resume`
        : `Cannot write '${file}': it must be a file that this user can write, and no symbolic link (${code})`,
    );
  };

async function keepLines(file: string, handle: FileHandle, lines: number): Promise<void> {
  let [kept, bytes] = [0, 0];
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let end = 0;
    while (kept < lines && end < chunk.length) {
      const found = chunk.indexOf('\n', end);
      if (found < 0) end = chunk.length;
      else [kept, end] = [kept + 1, found + 1];
    }
    bytes += end;
    if (kept === lines) break;
  }
  const { size } = await handle.stat();
  if (bytes < size) await handle.truncate(bytes);
}
