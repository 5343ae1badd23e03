import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createFolders } from '../../terminal/create-folders.ts';
import { ImportError } from './error.ts';

/** Bytes of one read: a look at a source takes half as long as with 64 KiB. */
export const readBytes = 262_144;

interface StoredSource {
  /** Reads it from its beginning. */
  open(): AsyncIterable<Buffer>;
  /** Removes it. */
  close(): Promise<void>;
}

/**
 * Stores sources that must be read twice in files of a folder. A file is unlinked as soon as it is
 * open, so the operating system removes it with the process, even after a crash. All stored sources
 * together have at most `bytesMax` bytes.
 */
export class Spool {
  readonly #folder: string;
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(folder: string, bytesMax: number) {
    this.#folder = folder;
    this.#bytesMax = bytesMax;
  }

  /**
   * Removes the files of a process that was killed between opening and unlinking one. Files in use
   * have no name, or lose it here.
   */
  async sweep(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []); // no source was stored yet
    await Promise.all(names.map((name) => rm(join(this.#folder, name), { force: true })));
  }

  /**
   * Stores a source while `read` reads it to its end; `bytes` is its size, if that is known. Throws
   * `ImportError` `TOO_LARGE` or `NO_ROOM`, and rethrows errors of the source and of `read`.
   */
  async store(
    source: AsyncIterable<Buffer>,
    read: (kept: AsyncIterable<Buffer>) => Promise<unknown> = drain,
    bytes = 0,
  ): Promise<StoredSource> {
    if (bytes > this.#bytesMax) throw tooLarge(this.#bytesMax);
    const handle = await this.#openFile();
    let size = 0;
    let isOpen = true;
    const reserve = (more: number): void => {
      if (!isOpen) throw new TypeError('Cannot store more of a source: it is closed');
      size += more;
      this.#bytes += more;
      if (size > this.#bytesMax) throw tooLarge(this.#bytesMax);
      if (this.#bytes > this.#bytesMax) throw noRoom('other sources use the space');
    };
    const close = async (): Promise<void> => {
      isOpen = false;
      this.#bytes -= size;
      size = 0;
      await handle.close();
    };
    try {
      await read(keepIn(handle, source, reserve));
    } catch (error) {
      await close();
      throw error;
    }
    return { open: () => readFrom(handle), close };
  }

  async #openFile(): Promise<FileHandle> {
    try {
      createFolders(this.#folder);
      const file = join(this.#folder, randomUUID());
      const handle = await open(file, 'wx+', 0o600); // records are personal data
      await rm(file, { force: true });
      return handle;
    } catch (error) {
      throw noRoom(
        `'${this.#folder}' is not a directory that this user can write (${(error as NodeJS.ErrnoException).code})`,
      );
    }
  }
}

async function drain(source: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of source);
}

/** Yields a source, and writes it to a file in parts of `readBytes` or more. */
async function* keepIn(
  handle: FileHandle,
  source: AsyncIterable<Buffer>,
  reserve: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let part: Buffer[] = [];
  let bytes = 0;
  const write = async (): Promise<void> => {
    await handle.writeFile(Buffer.concat(part)).catch(failOnFullDisk);
    part = [];
    bytes = 0;
  };
  for await (const chunk of source) {
    reserve(chunk.length);
    part.push(chunk);
    bytes += chunk.length;
    if (bytes >= readBytes) await write();
    yield chunk;
  }
  await write();
}

async function* readFrom(handle: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(readBytes), 0, readBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

function failOnFullDisk(error: NodeJS.ErrnoException): never {
  throw error.code === 'ENOSPC' || error.code === 'EDQUOT' ? noRoom(`its disk is full (${error.code})`) : error;
}

const tooLarge = (bytesMax: number): ImportError =>
  new ImportError(
    'TOO_LARGE',
    `Cannot buffer the source: it must have at most ${bytesMax} bytes (SPOOL_MAX_MIB); compress it, load it with 'subreport import FILE', or raise the setting`,
  );

const noRoom = (reason: string): ImportError =>
  new ImportError('NO_ROOM', `Cannot buffer the source: DATA_DIR must have space for it: ${reason}; import it later`);
