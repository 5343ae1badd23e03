import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { RejectedRow } from '../import/read-good-rows.ts';
import { CommandError } from './error.ts';

/** Where `--errors` writes rejected rows. */
export interface ErrorsFile {
  /** Keeps the first so many rows of an import that is resumed, and drops what it wrote behind them. */
  keep(rows: number): Promise<void>;
  /** Resolves when the row is out of this process. */
  write(row: RejectedRow): Promise<void>;
  close(): Promise<void>;
}

/** Opens the file for rejected rows; an import that is resumed appends to what is there. Fails with `CommandError` when it cannot be written. */
export async function openErrorsFile(file: string, resume: boolean): Promise<ErrorsFile> {
  const handle = await open(file, resume ? 'a' : 'w', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`Cannot write '${file}': it must be a file that this user can write (${error.code})`);
  }); // mode 0600, as rejected rows may hold e-mail addresses
  return {
    keep: (rows) => keepLines(file, handle, rows),
    write: (row) => handle.appendFile(`${JSON.stringify(row)}\n`),
    close: () => handle.close(),
  };
}

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
