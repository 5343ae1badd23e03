import { closeSync, fsyncSync, openSync, statSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { SqliteConnection } from '../sqlite/connection.ts';
import { toStorageError, translated } from '../sqlite/error.ts';
import { prepareFolder } from '../sqlite/folder.ts';
import { lockShared } from '../sqlite/locks.ts';

/** Called with the progress of a copy; `totalBytes` is present if it is known. */
export type OnCopied = (progress: { readonly bytes: number; readonly totalBytes?: number }) => void;

/** Pages of 4 KiB copied between two progress reports. */
const stepPages = 2_000;

/**
 * Copies one snapshot of the embedded store in a folder into an empty folder, while other processes
 * read and write it. The copy reads in one transaction, so that commits of other processes do not
 * restart it. The write-ahead log grows until the copy finishes.
 */
export async function copySqliteStore(folder: string, target: string, onCopied: OnCopied): Promise<void> {
  const file = prepareFolder(folder);
  const use = lockShared(file);
  const source = translated(() => new DatabaseSync(file, { timeout: 5_000 }), file);
  try {
    translated(() => source.exec('begin; select count(*) from sqlite_master'), file);
    await backup(source, prepareFolder(target), {
      rate: stepPages,
      progress: ({ totalPages, remainingPages }) => {
        const totalBytes = statSync(file).size;
        onCopied({ bytes: totalBytes * (1 - remainingPages / Math.max(1, totalPages)), totalBytes });
      },
    }).catch((error: unknown) => {
      throw toStorageError(error, file);
    });
  } finally {
    source.close();
    use.release();
  }
}

/**
 * Turns the database of a closed store into a single durable file without side files (rollback
 * journal instead of WAL).
 */
export function sealStore(file: string): void {
  const connection = new SqliteConnection(file, 0);
  connection.run('pragma journal_mode = delete');
  connection.close();
  syncFile(file);
}

/** Flushes a file, or the entries of a folder, to disk. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
