import { SyncError } from '../source/error.ts';

/**
 * Files below a folder, or a path of a remote of rclone. Names are relative to it: `FOLDER/FILE`.
 * Methods throw `SyncError` if the place fails, `DESTINATION_UNREADABLE` if it cannot be read.
 */
export interface FileStore {
  /** The place in messages, without secrets. */
  readonly shown: string;
  /** What the user should know before the place is used. */
  readonly warning?: string;
  /**
   * Names of the entries of the place or of one of its folders, in no order, with their sizes in
   * bytes; -1 if they are unknown, of no meaning for folders. None if the folder does not exist.
   */
  list(folder?: string): Promise<ReadonlyMap<string, number>>;
  /** Content of a file. One that does not exist is empty, or an error caused by `ENOENT`. */
  read(name: string): AsyncIterable<Uint8Array>;
  /**
   * Writes a file with a new name, and returns when all of it is stored. Errors of `content` are
   * thrown as they are. After an error, a part may be left, which no manifest names.
   */
  write(name: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>;
  /** Removes what a failed run wrote of a file, if that is allowed. */
  discard(name: string): Promise<void>;
}

/** Reads a small file as text, at most 64 KiB of it; empty if there is none. */
export async function readSmallFile(files: FileStore, name: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of files.read(name)) {
      parts.push(part);
      bytes += part.length;
      if (bytes > 65_536) break;
    }
  } catch (error) {
    if ((error as { cause?: NodeJS.ErrnoException }).cause?.code !== 'ENOENT') throw error;
  }
  return Buffer.concat(parts).toString('utf8', 0, 65_536);
}

/** Looks at a place that a user may have no right to read. Returns why it was not read. */
export async function ifReadable<T>(
  { shown }: FileStore,
  look: () => Promise<T>,
): Promise<{ readonly found?: T; readonly unread?: string }> {
  try {
    return { found: await look() };
  } catch (error) {
    if (!(error instanceof SyncError) || error.code !== 'DESTINATION_UNREADABLE') throw error;
    return { unread: `${error.message}. So earlier files in ${shown} were not looked at` };
  }
}

/** Throws if a list of the folder says that a file is missing, or not whole. */
export async function requireStored(files: FileStore, folder: string, file: string, bytes: number): Promise<void> {
  const stored = (await files.list(folder)).get(file);
  if (stored === bytes || stored === -1) return;
  throw new SyncError(
    'DESTINATION_FAILED',
    `Cannot complete ${files.shown}/${folder}/${file}: the whole file must be stored, ${bytes} bytes: current value is ${stored ?? 'no file'}`,
  );
}
