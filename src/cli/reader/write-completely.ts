import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { writeFailure } from '../error.ts';

/**
 * Replaces a file after all of its content was written and flushed. If anything fails before, the
 * previous file remains unchanged, and the temporary one is removed.
 */
export async function writeCompletely(file: string, chunks: AsyncIterable<Uint8Array | string>): Promise<void> {
  const temporary = join(dirname(file), `.${basename(file)}.${randomBytes(4).toString('hex')}`);
  try {
    const handle = await open(temporary, 'wx');
    try {
      for await (const chunk of chunks) await handle.appendFile(chunk);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    // the first error is the one to report
    await rm(temporary, { force: true }).catch(() => undefined);
    // its own message would have the name of the temporary file
    throw (error as NodeJS.ErrnoException).syscall === undefined
      ? error
      : writeFailure(file, error as NodeJS.ErrnoException);
  }
}

/** Whether a path is a pipe or a device, which must not be replaced by a file. */
export function isOtherThanFile(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && !found.isFile() && !found.isDirectory();
}
