/**
 * Files below a folder, a prefix of a bucket, or a directory of a server. Names are relative to it:
 * `FILE` or `FOLDER/FILE`. Methods throw `SyncError` if the place fails.
 */
export interface FileStore {
  /** The place in messages, without secrets. */
  readonly shown: string;
  /** Names of the folders, in no order. */
  folders(): Promise<readonly string[]>;
  /** Content of a file; `undefined` if there is none. */
  read(name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Writes a large file, which appears when it is complete and flushed. Errors of `content` are
   * thrown as they are. After an error, `discard` removes what was written.
   */
  write(name: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** Creates a small file, which appears when it is complete. Returns false if it exists. */
  create(name: string, text: string): Promise<boolean>;
  /** Replaces a small file. */
  replace(name: string, text: string): Promise<void>;
  /** Removes a file and whatever unfinished writes of it left; no error if there is nothing. */
  discard(name: string): Promise<void>;
  /** Throws `SyncError` if no file can be written, as far as that can be known without writing. */
  requireWritable?(): Promise<void>;
  close(): Promise<void>;
}

/** Reads a small file as text, at most 64 KiB of it; `undefined` if there is none. */
export async function readSmallFile(files: FileStore, name: string): Promise<string | undefined> {
  const content = await files.read(name);
  if (content === undefined) return undefined;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of content) {
    parts.push(part);
    bytes += part.length;
    if (bytes > 65_536) break;
  }
  return Buffer.concat(parts).toString('utf8', 0, 65_536);
}
