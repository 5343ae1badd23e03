import { closeSync, openSync } from 'node:fs';

/**
 * Makes an empty file (mode 0600) unless there is one. One that is there is not opened: closing it
 * would drop all locks that this process holds on it (POSIX advisory locks belong to the process).
 */
export function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
