import { statSync } from 'node:fs';
import { StorageError } from '../error.ts';
import { SqliteConnection } from './connection.ts';
import { createFile } from './create-file.ts';

/** A lock on the embedded store; the operating system releases it when the process exits. */
interface UseLock {
  release(): void;
}

/**
 * Locks the embedded store in shared mode, so that no restore can replace its file meanwhile.
 * Throws `StorageError` `BUSY` while another process has it to itself.
 */
export function lockShared(databaseFile: string): UseLock {
  // reading takes SQLite's shared lock
  const lock = takeLock(databaseFile, 'begin; select count(*) from sqlite_master');
  if (lock !== undefined) return lock;
  throw new StorageError(
    'BUSY',
    `Cannot open the embedded store '${databaseFile}': no restore and no first import may be running, which need it to themselves; try again when it has finished`,
  );
}

/** Locks the embedded store against every other process; `undefined` if another process uses it. */
export function lockExclusive(databaseFile: string): UseLock | undefined {
  return takeLock(databaseFile, 'begin exclusive');
}

/** The lock of an open store: shared, and exclusive for some of the time. */
export class StoreLock {
  readonly #databaseFile: string;
  readonly #inode: bigint;
  #lock: UseLock | undefined;

  constructor(databaseFile: string) {
    this.#databaseFile = databaseFile;
    this.#lock = lockShared(databaseFile);
    this.#inode = inodeOf(databaseFile);
  }

  /** Excludes all other processes; `false`, and stays shared, if another one uses the store. */
  takeExclusive(): boolean {
    return this.#exchange(() => lockExclusive(this.#databaseFile));
  }

  /** Admits other processes again. */
  share(): void {
    this.#exchange(() => undefined);
  }

  release(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }

  /** The lock is free for a moment, in which a restore could replace the file. */
  #exchange(take: () => UseLock | undefined): boolean {
    this.release();
    const taken = take();
    this.#lock = taken ?? lockShared(this.#databaseFile);
    if (inodeOf(this.#databaseFile) === this.#inode) return taken !== undefined;
    throw new StorageError(
      'UNAVAILABLE',
      `Cannot continue in the embedded store '${this.#databaseFile}': a restore has replaced its file; try again`,
    );
  }
}

const inodeOf = (file: string): bigint => statSync(file, { bigint: true }).ino;

/**
 * SQLite's own lock on an empty database next to the store: the operating system releases it when
 * the process exits. The file is not removed, because two processes could then lock two files of
 * the same name.
 */
function takeLock(databaseFile: string, take: string): UseLock | undefined {
  const file = `${databaseFile}-use.lock`;
  createFile(file);
  const connection = new SqliteConnection(file, 0);
  try {
    connection.run(take);
  } catch (error) {
    connection.close();
    if (error instanceof StorageError && error.code === 'BUSY') return undefined;
    throw error;
  }
  return { release: () => connection.close() };
}
