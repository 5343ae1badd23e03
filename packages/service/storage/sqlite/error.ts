import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { lacksFiles, StorageError, type StorageErrorCode } from '../error.ts';

/** Our error code and the operator's error message for a result code of SQLite. */
interface Meaning {
  readonly code: StorageErrorCode;
  readonly must: string;
  readonly remedy: string;
}

const isLocked: Meaning = {
  code: 'BUSY',
  must: 'no other process may write to it for longer than we wait',
  remedy: 'try again',
};
const isDamaged: Meaning = {
  code: 'UNUSABLE',
  must: 'its file must be undamaged',
  remedy: "stop the service and restore a backup with 'subreport restore'; 'subreport doctor' shows what is damaged",
};
const isClosed: Meaning = {
  code: 'UNUSABLE',
  must: 'this user must be able to read and write it and to create files next to it',
  remedy: 'make the user that runs subreport the owner of the directory and its files (modes 0700 and 0600)',
};
const isOutOfDescriptors: Meaning = {
  code: 'UNAVAILABLE',
  must: 'this process must be allowed to open more files',
  remedy: 'raise its limit (ulimit -n, LimitNOFILE) or lower EXPORTS_MAX; the service recovers automatically',
};

/** By the low byte of the result code (https://sqlite.org/rescode.html). */
const meanings: Readonly<Record<number, Meaning>> = {
  5: isLocked,
  6: isLocked,
  8: isClosed,
  10: {
    code: 'UNAVAILABLE',
    must: 'its disk must be readable and writable, with free space',
    remedy: 'check the disk (df, dmesg); the service recovers automatically',
  },
  11: isDamaged,
  13: {
    code: 'FULL',
    must: 'its disk and that of temporary files (SQLITE_TMPDIR, or TMPDIR, or /tmp) must have free space',
    remedy: 'free some space; no committed data is lost, and the service recovers automatically',
  },
  14: isClosed,
  26: isDamaged,
};

/**
 * Runs work on a database file and throws SQLite's errors as `StorageError`; other errors are
 * defects and are rethrown unchanged.
 */
export function translated<T>(work: () => T, file: string): T {
  try {
    return work();
  } catch (error) {
    throw toStorageError(error, file);
  }
}

/**
 * Converts an error of SQLite to `StorageError`; other errors are defects and are returned
 * unchanged.
 */
export function toStorageError(error: unknown, file: string): unknown {
  const { errcode, message } = error as { errcode?: number; message?: string };
  const known = errcode === undefined ? undefined : meanings[errcode & 0xff];
  const limit = errcode === cannotOpen ? findLimit() : undefined;
  const meaning = limit === undefined ? known : isOutOfDescriptors;
  if (meaning === undefined) return error;
  const { code, must, remedy } = meaning;
  const errorMessage = `Cannot use the embedded store '${file}': ${must}: SQLite says '${message}'; ${remedy}`;
  const translatedError = new StorageError(code, errorMessage, limit ?? error);
  if (meaning === isDamaged) noteDamage(file, translatedError);
  return translatedError;
}

/** SQLite's result code for a file that it cannot open, whatever the reason. */
const cannotOpen = 14;

/**
 * The error of the file system if no more files can be opened. The database itself is not opened:
 * closing it would drop all locks that this process holds on it.
 */
function findLimit(): unknown {
  try {
    closeSync(openSync(devNull, 'r'));
    return undefined;
  } catch (error) {
    return lacksFiles(error as NodeJS.ErrnoException) ? error : undefined;
  }
}

/** Damage detected in this thread, by database file. */
const damaged = new Map<string, StorageError>();

export function noteDamage(file: string, error: StorageError): void {
  if (!damaged.has(file)) damaged.set(file, error);
}

/**
 * The damage detected in a file, if any. Each thread has its own memory, so this is the thread's
 * view. It is remembered until the process exits: a damaged page does not repair itself, and a
 * restore requires a stopped service.
 */
export const knownDamage = (file: string): StorageError | undefined => damaged.get(file);
