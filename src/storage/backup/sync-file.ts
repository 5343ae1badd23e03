import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Makes a file durable, or a folder's list of files. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
