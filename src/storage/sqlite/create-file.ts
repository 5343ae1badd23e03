import { closeSync, openSync } from 'node:fs';

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
