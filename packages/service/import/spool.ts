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

/** A source that is arriving. */
interface Arriving {
  readonly tenant: string;
  readonly handle: FileHandle;
  size: number;
}

/**
 * Stores sources that must be read twice in files of a folder. A file is unlinked as soon as it is
 * open, so the operating system removes it with the process, even after a crash. All stored sources
 * together have at most `bytesMax` bytes. If they are used up, the largest source that is still
 * arriving gives way to that of a tenant with less, so a slow one keeps nobody else from loading.
 */
export class Spool {
  readonly #folder: string;
  readonly #bytesMax: number;
  readonly #arriving = new Set<Arriving>();
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
   * Stores a source; `bytes` is its size, if that is known. Throws `ImportError` `TOO_LARGE` or
   * `NO_ROOM`, and rethrows errors of the source.
   */
  async store(source: AsyncIterable<Buffer>, bytes = 0, tenant = ''): Promise<StoredSource> {
    if (bytes > this.#bytesMax) throw tooLarge(this.#bytesMax);
    const handle = await this.#openFile();
    const own: Arriving = { tenant, handle, size: 0 };
    this.#arriving.add(own);
    const close = async (): Promise<void> => {
      this.#bytes -= own.size;
      await handle.close();
    };
    try {
      for await (const chunk of source) {
        own.size += chunk.length;
        this.#bytes += chunk.length;
        if (own.size > this.#bytesMax) throw tooLarge(this.#bytesMax);
        await this.#makeRoom(own);
        await handle.writeFile(chunk).catch(failOnFullDisk);
      }
      await this.#makeRoom(own); // it may have given way since
    } catch (error) {
      await close();
      throw error;
    } finally {
      this.#arriving.delete(own);
    }
    return { open: () => readFrom(handle), close };
  }

  /** Throws unless the source may have its bytes, and has not given way to another one. */
  async #makeRoom(own: Arriving): Promise<void> {
    while (this.#bytes > this.#bytesMax || !this.#arriving.has(own)) {
      const most = [...this.#arriving].reduce((found, each) => (each.size > found.size ? each : found), own);
      if (!this.#arriving.has(own) || most.tenant === own.tenant) throw noRoom('other sources use the space');
      this.#arriving.delete(most);
      this.#bytes -= most.size;
      most.size = 0;
      await most.handle.truncate();
    }
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
