import { type BigIntStats, constants } from 'node:fs';
import { lstat, open, rm, stat } from 'node:fs/promises';
import { CommandError, isDiskFull } from '../../../terminal/error.ts';
import { printableJson } from '../../../terminal/printable.ts';
import type { RejectedRow } from '../../import/read-valid-rows.ts';

interface ErrorsFile {
  /** Resolves when the row has been written. */
  write(row: RejectedRow): Promise<void>;
  close(): Promise<void>;
}

/** Identifies a file independent of its path. */
export type FileIdentity = Pick<BigIntStats, 'dev' | 'ino'>;

/**
 * Opens the file for rejected rows. It replaces an earlier one, so that no link leads
 * the rows elsewhere, and nobody keeps the right to read them. Throws `CommandError`
 * if it cannot be written, is a symbolic link, or is the file that is imported.
 */
export async function openErrorsFile(file: string, source: FileIdentity | undefined): Promise<ErrorsFile> {
  const target = await stat(file, { bigint: true }).catch(() => undefined);
  if (source !== undefined && target?.dev === source.dev && target.ino === source.ino)
    throw new CommandError(`Cannot write rejected rows to '${file}': it must not be the file that is imported`);
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() === true) await rm(file).catch(cannotWrite(file));
  const isNew = found === undefined || found.isFile();
  const { O_APPEND, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
  const flags = O_APPEND | O_WRONLY | (isNew ? O_CREAT | O_EXCL : O_NOFOLLOW);
  // mode 0600, because rejected rows may contain email addresses
  const handle = await open(file, flags, 0o600).catch(cannotWrite(file));
  return {
    write: (row) => handle.appendFile(`${printableJson(JSON.stringify(row))}\n`).catch(cannotWrite(file)),
    close: () => handle.close(),
  };
}

const cannotWrite =
  (file: string) =>
  (error: NodeJS.ErrnoException): never => {
    const { code } = error;
    throw new CommandError(
      isDiskFull(error)
        ? `Cannot write '${file}': its disk must have enough space for the rejected rows (${code}); the import stopped, run it again`
        : `Cannot write '${file}': it must be a file that this user can write, and no symbolic link (${code})`,
    );
  };
