import type { DatabaseSync } from 'node:sqlite';
import { isDiskFull, UsageError } from '../../../terminal/error.ts';
import { SyncError } from './error.ts';

/**
 * Opens a database file of SQLite; statements wait for its locks, at most `timeout` milliseconds.
 * The module is loaded here because older versions of Node.js, which run all other commands, lack
 * it.
 */
export function openDatabase(file: string, timeout: number): DatabaseSync {
  const sqlite = process.getBuiltinModule?.('node:sqlite');
  if (sqlite !== undefined) return new sqlite.DatabaseSync(file, { timeout });
  throw new UsageError(
    `Cannot open '${file}': Node.js must be version 22.13 or newer: current value is ${process.versions.node}`,
  );
}

/** What the sentences about a database file say. */
export interface FileSentences {
  /** How they begin, such as "Cannot use 'webhook.db'". */
  readonly cannot: string;
  /** Which other process must not be running. */
  readonly busy: string;
  /** What the file must be. */
  readonly rule: string;
}

/** Runs work on a database file; throws an error of SQLite or of a system call as `SyncError`. */
export function onFile<T>({ cannot, busy, rule }: FileSentences, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { errcode, syscall, message } = error as { errcode?: number; syscall?: string; message: string };
    if (errcode === undefined && syscall === undefined) throw error;
    const [code, said] = isBusy(error)
      ? (['DESTINATION_BUSY', `${busy}; try again when it has ended`] as const)
      : isDiskFault(error) || isDiskFull(error)
        ? (['DESTINATION_FAILED', `its disk must have room, and no fault: ${message}`] as const)
        : (['DESTINATION_INVALID', `${rule}: current value is: ${message}`] as const);
    throw new SyncError(code, `${cannot}: ${said}`, { cause: error });
  }
}

/** The low byte of the extended codes of SQLite. */
const codeOf = (error: unknown): number => ((error as { errcode?: number } | undefined)?.errcode ?? 0) % 256;

/** Whether another connection holds a lock: SQLITE_BUSY. */
const isBusy = (error: unknown): boolean => codeOf(error) === 5;

/** Whether the disk of a database is full or fails: SQLITE_FULL or SQLITE_IOERR. */
export const isDiskFault = (error: unknown): boolean => [13, 10].includes(codeOf(error));
