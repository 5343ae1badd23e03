import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path/posix';
import ssh2, { type Client, type SFTPWrapper } from 'ssh2';
import { SyncError } from './error.ts';
import type { FileStore } from './file-store.ts';
import { placeOf, type SftpPlace, type SftpSecrets } from './sftp-host.ts';

/** A request that has more bytes is sent as several, one after the other. */
const requestBytes = 32_768;

/** Requests without a response, 2 MiB: with one at a time, a distance of 50 ms is 640 kB/s. */
const requestsMax = 64;

/** Bytes of a read, and reads without a response: 2 MiB, as for writes. */
const [readBytes, readsMax] = [8 * requestBytes, 8];

/** Status codes of SFTP 3 (draft-ietf-secsh-filexfer-02, section 7). */
const status = { endOfFile: 1, noSuchFile: 2, permissionDenied: 3, failure: 4 } as const;

type Callback<T> = (error: Error | undefined | null, value: T) => void;

/** Files in a directory of an SFTP server. */
export class SftpFiles implements FileStore {
  readonly #place: SftpPlace;
  readonly #connection: Client = new ssh2.Client();
  #sftp: SFTPWrapper | undefined;
  /** Set when the connection has ended, because further requests would wait for ever. */
  #lost: Error | undefined;

  private constructor(place: SftpPlace) {
    this.#place = place;
  }

  /** Throws `SyncError` unless the server has the pinned key, and the directory exists. */
  static async open(to: string, secrets: SftpSecrets, environment: NodeJS.ProcessEnv): Promise<SftpFiles> {
    const files = new SftpFiles(placeOf(to, secrets, environment));
    try {
      await files.#connect();
      const found = await files.#stat('');
      if (found?.isDirectory() !== true) throw files.#invalid('no directory');
      return files;
    } catch (error) {
      await files.close();
      throw error;
    }
  }

  get shown(): string {
    return this.#place.shown;
  }

  async folders(): Promise<readonly string[]> {
    const entries = await this.#entries('.');
    return entries.filter(({ attrs }) => attrs.isDirectory()).map(({ filename }) => filename);
  }

  async read(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return (await this.#stat(name)) === undefined ? undefined : this.#content(name);
  }

  async *#content(name: string): AsyncGenerator<Uint8Array, void, undefined> {
    const handle = await this.#call<Buffer>((sftp, end) => sftp.open(this.#path(name), 'r', end));
    const reads: Promise<Uint8Array>[] = [];
    try {
      for (let position = 0; ; position += readBytes) {
        const read = this.#readAt(handle, position);
        read.catch(() => undefined); // thrown when it is awaited
        reads.push(read);
        const bytes = reads.length === readsMax ? await reads.shift() : undefined;
        if (bytes !== undefined) yield bytes;
        if (bytes !== undefined && bytes.length < readBytes) return;
      }
    } finally {
      await Promise.allSettled(reads);
      if (this.#lost === undefined) await this.#call<void>((sftp, end) => sftp.close(handle, end));
    }
  }

  /** Reads the bytes at a position, fewer only at the end of the file. */
  async #readAt(handle: Buffer, position: number): Promise<Uint8Array> {
    const bytes = Buffer.allocUnsafe(readBytes);
    for (let from = 0; from < readBytes; ) {
      const count = await this.#ask<number>((sftp, end) =>
        sftp.read(handle, bytes, from, readBytes - from, position + from, end),
      ).catch((error: Error) => {
        if (codeOf(error) === status.endOfFile) return 0;
        throw this.#failed(error);
      });
      if (count === 0) return bytes.subarray(0, from);
      from += count;
    }
    return bytes;
  }

  async write(name: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#writeNew(`${name}.part`, content);
    await this.#call<void>((sftp, end) => sftp.rename(this.#path(`${name}.part`), this.#path(name), end));
  }

  async create(name: string, text: string): Promise<boolean> {
    if ((await this.#stat(name)) !== undefined) return false;
    const part = await this.#writePart(name, text);
    try {
      await this.#ask<void>((sftp, end) => sftp.rename(this.#path(part), this.#path(name), end));
      return true;
    } catch (error) {
      if ((await this.#stat(name)) === undefined) throw this.#failed(error as Error);
      await this.#remove(part); // a rename replaces no file
      return false;
    }
  }

  async replace(name: string, text: string): Promise<void> {
    const part = await this.#writePart(name, text);
    const [from, to] = [this.#path(part), this.#path(name)];
    try {
      await this.#ask<void>((sftp, end) => sftp.ext_openssh_rename(from, to, end));
    } catch {
      await this.#remove(name); // servers without posix-rename@openssh.com
      await this.#call<void>((sftp, end) => sftp.rename(from, to, end));
    }
  }

  async discard(name: string): Promise<void> {
    const [folder, isOfRun] = [dirname(name), name.includes('/')];
    if ((await this.#stat(folder)) === undefined) return;
    for (const { filename } of await this.#entries(folder))
      if (filename === basename(name) || (filename.endsWith('.part') && (isOfRun || filename.startsWith(name))))
        await this.#remove(join(folder, filename));
    if (isOfRun && (await this.#entries(folder)).length === 0)
      await this.#call<void>((sftp, end) => sftp.rmdir(this.#path(folder), end));
  }

  async close(): Promise<void> {
    this.#connection.end();
  }

  async #connect(): Promise<void> {
    const { config, refusal } = this.#place;
    const ready = Promise.withResolvers<void>();
    this.#connection
      .on('ready', ready.resolve)
      .on('error', (error) => {
        this.#lost ??= error;
        ready.reject(error);
      })
      .on('close', () => {
        this.#lost ??= new Error('the connection was closed');
        ready.reject(this.#lost);
      });
    try {
      this.#connection.connect(config);
      // otherwise each request waits some 45 ms for the acknowledgement of the one before
      this.#connection.setNoDelay(true);
      await ready.promise;
      this.#sftp = await new Promise((resolve, reject) => {
        this.#connection.sftp((error, sftp) => (error === undefined ? resolve(sftp) : reject(error)));
      });
    } catch (error) {
      throw refusal() ?? this.#unreachable(error as Error & { level?: string; code?: string });
    }
  }

  get #open(): SFTPWrapper {
    if (this.#sftp === undefined || this.#lost !== undefined) throw this.#lost ?? new Error('not connected');
    return this.#sftp;
  }

  #path(name: string): string {
    return join(this.#place.directory, name);
  }

  /** Calls a method of the library. Rejects with its error. */
  async #ask<T>(call: (sftp: SFTPWrapper, end: Callback<T>) => void): Promise<T> {
    const sftp = this.#open;
    return new Promise((resolve, reject) => {
      call(sftp, (error, value) => (error ? reject(this.#lost ?? error) : resolve(value)));
    });
  }

  async #call<T>(call: (sftp: SFTPWrapper, end: Callback<T>) => void): Promise<T> {
    return this.#ask(call).catch((error: Error) => {
      throw this.#failed(error);
    });
  }

  async #stat(name: string) {
    try {
      return await this.#ask<ssh2.Stats>((sftp, end) => sftp.stat(this.#path(name), end));
    } catch (error) {
      if (codeOf(error) === status.noSuchFile) return undefined;
      throw this.#failed(error as Error);
    }
  }

  #entries(folder: string): Promise<readonly ssh2.FileEntryWithStats[]> {
    return this.#call((sftp, end) => sftp.readdir(this.#path(folder), end));
  }

  async #remove(name: string): Promise<void> {
    try {
      await this.#ask<void>((sftp, end) => sftp.unlink(this.#path(name), end));
    } catch (error) {
      if (codeOf(error) !== status.noSuchFile) throw this.#failed(error as Error);
    }
  }

  async #writePart(name: string, text: string): Promise<string> {
    const part = `${name}.${randomBytes(4).toString('hex')}.part`;
    await this.#writeNew(part, [Buffer.from(text)]);
    return part;
  }

  /** Writes a file that does not exist yet, in its directory, and flushes it if the server can. */
  async #writeNew(name: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const directory = dirname(name);
    if (directory !== '.' && (await this.#stat(directory)) === undefined)
      await this.#call<void>((sftp, end) => sftp.mkdir(this.#path(directory), end));
    const handle = await this.#call<Buffer>((sftp, end) => sftp.open(this.#path(name), 'wx', end));
    try {
      await this.#writeAll(handle, content);
      await this.#flush(handle);
    } finally {
      // after a failure, the server closes it with the connection
      if (this.#lost === undefined) await this.#call<void>((sftp, end) => sftp.close(handle, end));
    }
  }

  /** Writes content with several requests in flight. */
  async #writeAll(handle: Buffer, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const inFlight: Promise<void>[] = [];
    let position = 0;
    try {
      for await (const chunk of content) {
        const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
        for (let from = 0; from < bytes.length; from += requestBytes) {
          const length = Math.min(requestBytes, bytes.length - from);
          const at = position;
          position += length;
          const written = this.#call<void>((sftp, end) => sftp.write(handle, bytes, from, length, at, end));
          written.catch(() => undefined); // thrown when it is awaited
          inFlight.push(written);
          if (inFlight.length === requestsMax) await inFlight.shift();
        }
      }
      await Promise.all(inFlight);
    } finally {
      await Promise.allSettled(inFlight);
    }
  }

  async #flush(handle: Buffer): Promise<void> {
    try {
      await this.#ask<void>((sftp, end) => sftp.ext_openssh_fsync(handle, end));
    } catch (error) {
      // servers without fsync@openssh.com
      if (!(error as Error).message.startsWith('Server does not support')) throw this.#failed(error as Error);
    }
  }

  #unreachable(error: Error & { level?: string; code?: string }): SyncError {
    if (error.level === 'client-authentication')
      return this.#invalid('a user whose key or password the server refuses', error);
    return error.code === 'ENOTFOUND' ? this.#invalid('an unknown host', error) : this.#failed(error);
  }

  #invalid(found: string, cause?: unknown): SyncError {
    return new SyncError(
      'DESTINATION_INVALID',
      `Cannot use ${this.shown}: it must be a directory that exists, and that the user can list and write, such as sftp://exports@files.example.com/reports: current value is ${found}`,
      { cause },
    );
  }

  #failed(error: Error): SyncError {
    if (codeOf(error) === status.permissionDenied || codeOf(error) === status.noSuchFile)
      return this.#invalid(error.message, error);
    const found = codeOf(error) === status.failure ? 'a failed request, as with a full disk' : error.message;
    return new SyncError(
      'DESTINATION_FAILED',
      `Cannot use ${this.shown}: it must have room for the files, and stay available until the end: current value is ${found}`,
      { cause: error },
    );
  }
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;
