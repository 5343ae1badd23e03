import { chmodSync, closeSync, existsSync, openSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createFolders } from '../../../terminal/create-folders.ts';
import { StorageError } from '../error.ts';

const databaseFile = 'subreport.db';

/**
 * Prepares a folder for the embedded store so that only its owner can read it: folder 0700,
 * database file 0600 (SQLite gives its side files the mode of the database). Returns the path of
 * the database file.
 *
 * A folder that other users can read is restricted to its owner if it is empty or already holds a
 * store; otherwise it is refused and left unchanged.
 */
export function prepareFolder(folder: string): string {
  const path = resolve(folder);
  try {
    createFolders(path);
    tightenFolder(path);
    const file = join(path, databaseFile);
    createFile(file);
    chmodSync(file, 0o600);
    return file;
  } catch (error) {
    if (error instanceof StorageError) throw error;
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    const isFull = code === 'ENOSPC' || code === 'EDQUOT';
    const rule = isFull ? 'its disk must have free space' : 'it must be a directory that this user can write';
    const message = `Cannot use the data directory '${path}': ${rule} (${code}); set DATA_DIR to another one`;
    throw new StorageError(isFull ? 'FULL' : 'UNUSABLE', message, error);
  }
}

function tightenFolder(path: string): void {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0 || process.platform === 'win32') return;
  const ours = existsSync(join(path, databaseFile)) || readdirSync(path).length === 0;
  if (!ours) {
    throw new StorageError(
      'UNUSABLE',
      `Cannot use the data directory '${path}': it must be readable by its owner only (mode 0700): current value is 0${mode.toString(8)}, and it contains other files; set DATA_DIR to a new directory`,
    );
  }
  chmodSync(path, 0o700);
}

/**
 * Creates an empty file (mode 0600) unless it exists. An existing file is not opened: closing it
 * would drop all locks that this process holds on it (POSIX advisory locks belong to the process).
 */
export function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
