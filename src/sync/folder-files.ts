import { randomBytes } from 'node:crypto';
import { access, constants, link, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { SyncError } from './error.ts';
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

  folders(): Promise<readonly string[]> {
    return this.#guard(async () => {
      const entries = await readdir(this.shown, { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    });
  }

  read(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#guard(async () => {
      const handle = await open(this.#path(name)).catch(ifMissing(undefined));
      return handle?.createReadStream();
    });
  }

  write(name: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    return this.#guard(async () => {
      const path = this.#path(name);
      await this.#writeNew(`${path}.part`, content);
      await rename(`${path}.part`, path);
      await this.#flushFolders(path);
    });
  }

  create(name: string, text: string): Promise<boolean> {
    return this.#guard(async () => {
      const path = this.#path(name);
      const part = await this.#writePart(path, text);
      try {
        await link(part, path); // unlike a rename, it fails if the file exists
        await this.#flushFolders(path);
        return true;
      } catch (error) {
        // ENOENT: another run has removed the part
        if (['EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
        throw error;
      } finally {
        await rm(part, { force: true });
      }
    });
  }

  replace(name: string, text: string): Promise<void> {
    return this.#guard(async () => rename(await this.#writePart(this.#path(name), text), this.#path(name)));
  }

  discard(name: string): Promise<void> {
    return this.#guard(async () => {
      const path = this.#path(name);
      const [folder, isOfRun] = [dirname(path), name.includes('/')];
      for (const entry of await readdir(folder).catch(ifMissing([])))
        if (entry === basename(path) || (entry.endsWith('.part') && (isOfRun || entry.startsWith(name))))
          await rm(join(folder, entry), { force: true });
      if (isOfRun) await rmdir(folder).catch(ifNotEmpty);
    });
  }

  requireWritable(): Promise<void> {
    return this.#guard(() => access(this.shown, constants.W_OK | constants.X_OK));
  }

  async close(): Promise<void> {
    // nothing is open
  }

  #path(name: string): string {
    return join(this.shown, name);
  }

  async #writePart(path: string, text: string): Promise<string> {
    const part = `${path}.${randomBytes(4).toString('hex')}.part`;
    await this.#writeNew(part, [Buffer.from(text)]);
    return part;
  }

  /** Writes and flushes a file that does not exist yet, in its folder. */
  async #writeNew(path: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    if (dirname(path) !== this.shown) await mkdir(dirname(path), { recursive: true });
    const handle = await open(path, 'wx');
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

  #error(code: 'DESTINATION_INVALID' | 'DESTINATION_FAILED', found: string, cause?: unknown): SyncError {
    const rule =
      code === 'DESTINATION_INVALID'
        ? 'be a folder that exists and that this user can write, such as dir:/var/exports'
        : 'have room for the files, and stay available until the end';
    return new SyncError(code, `Cannot use dir:${this.shown}: it must ${rule}: current value is ${found}`, { cause });
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

const ifNotEmpty = (error: NodeJS.ErrnoException): void => {
  if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(error.code ?? '')) throw error;
};
