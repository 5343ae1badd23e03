import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { SyncError } from '../source/error.ts';
import type { FileStore } from './file-store.ts';

/** Files in a folder of this machine, or one that is mounted here. */
export class FolderFiles implements FileStore {
  readonly shown: string;

  private constructor(folder: string) {
    this.shown = folder;
  }

  /** Throws `SyncError` unless the folder exists. */
  static async open(folder: string): Promise<FolderFiles> {
    const files = new FolderFiles(resolve(folder));
    const found = await files.#guard(() => stat(files.shown));
    if (found.isDirectory()) return files;
    throw files.#error('DESTINATION_INVALID', 'is not a folder');
  }

  list(folder = ''): Promise<ReadonlyMap<string, number>> {
    return this.#guardRead(async () => {
      const path = join(this.shown, folder);
      const entries = await readdir(path, { withFileTypes: true }).catch(ifMissing([]));
      const sized = entries.map(async (entry): Promise<[string, number]> => {
        const found = entry.isFile() ? await stat(join(path, entry.name)).catch(ifMissing(undefined)) : undefined;
        return [entry.name, found?.size ?? -1];
      });
      return new Map(await Promise.all(sized));
    });
  }

  async *read(name: string): AsyncGenerator<Uint8Array, void, undefined> {
    const handle = await this.#guardRead(() => open(join(this.shown, name)));
    const chunks = handle.createReadStream()[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await this.#guardRead(() => chunks.next());
        if (done === true) return;
        yield value;
      }
    } finally {
      await chunks.return?.(); // closes the file, also if the reader has had enough
    }
  }

  /** Writes a part and renames it, so that a file is whole once it has its name. */
  write(name: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const path = join(this.shown, name);
    const part = `${path}.part`;
    return this.#guard(async () => {
      try {
        await this.#writePart(part, content);
        await rename(part, path);
        await this.#flushFolders(path);
      } catch (error) {
        await rm(part, { force: true }).catch(() => undefined); // `error` is the one to report
        throw error;
      }
    });
  }

  discard(name: string): Promise<void> {
    return this.#guard(async () => {
      const path = join(this.shown, name);
      for (const left of [`${path}.part`, path]) await rm(left, { force: true });
    });
  }

  /** Writes and flushes a part, in the folder of its file. */
  async #writePart(part: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    // with `recursive`, Node tries for ever where a file system says ENOENT, such as /proc
    await mkdir(dirname(part)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const handle = await open(part, 'wx');
    try {
      for await (const chunk of content) await handle.writeFile(chunk);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  /** Flushes the entries of a file and of its folder. */
  async #flushFolders(path: string): Promise<void> {
    for (const folder of new Set([dirname(path), this.shown])) {
      const handle = await open(folder);
      await handle.sync().finally(() => handle.close());
    }
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { code = '', syscall } = error as NodeJS.ErrnoException;
      if (syscall === undefined) throw error; // not of a file
      throw this.#error(mustChange.has(code) ? 'DESTINATION_INVALID' : 'DESTINATION_FAILED', code, error);
    }
  }

  #guardRead<T>(work: () => Promise<T>): Promise<T> {
    return work().catch((error: NodeJS.ErrnoException) => {
      const rule = 'this user must be able to list its folders and to read its files';
      const message = `Cannot read dir:${this.shown}: ${rule} (${error.code ?? error.message})`;
      throw new SyncError('DESTINATION_UNREADABLE', message, { cause: error });
    });
  }

  #error(code: 'DESTINATION_INVALID' | 'DESTINATION_FAILED', found: string, cause?: unknown): SyncError {
    const rule =
      code === 'DESTINATION_INVALID'
        ? 'be a folder that exists and that this user can write, such as dir:/var/exports'
        : 'have room for the files, and stay available until the end';
    return new SyncError(code, `Cannot use dir:${this.shown}: it must ${rule} (${found})`, { cause });
  }
}

/** Errors that do not go away by themselves. A full disk may. */
const mustChange = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG', 'ELOOP']);

/** Handles an error: returns a value instead of a file that does not exist. */
const ifMissing =
  <T>(value: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
