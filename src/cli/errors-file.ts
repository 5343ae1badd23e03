import { type BigIntStats, createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { RejectedRow } from '../import/read-valid-rows.ts';
import { CommandError } from './error.ts';

/** The file of `--errors`. */
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
 * Opens the file for rejected rows; a resumed import appends to it. Throws `CommandError` if it
 * cannot be written, or if it is the file that is imported.
 */
export async function openErrorsFile(
  file: string,
  resume: boolean,
  source: FileIdentity | undefined,
): Promise<ErrorsFile> {
  // mode 0600, because rejected rows may contain email addresses
  const handle = await open(file, 'a', 0o600).catch(cannotWrite(file));
  const { dev, ino, ...stats } = await handle.stat({ bigint: true });
  if (dev === source?.dev && ino === source.ino) {
    await handle.close();
    throw new CommandError(`Cannot write rejected rows to '${file}': it must not be the file that is imported`);
  }
  if (!resume && stats.size > 0n) await handle.truncate(0).catch(cannotWrite(file));
  return {
    truncate: (rows) => keepLines(file, handle, rows).catch(cannotWrite(file)),
    write: (row) => handle.appendFile(`${JSON.stringify(row)}\n`).catch(cannotWrite(file)),
    close: () => handle.close(),
  };
}

const cannotWrite =
  (file: string) =>
  ({ code }: NodeJS.ErrnoException): never => {
    throw new CommandError(
      code === 'ENOSPC' || code === 'EDQUOT'
        ? `Cannot write '${file}': its disk must have enough space for the rejected rows (${code}); the import stopped, run it again with --resume`
        : `Cannot write '${file}': it must be a file that this user can write (${code})`,
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
