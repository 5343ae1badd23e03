import { readFileSync } from 'node:fs';

/** Invalid arguments or settings. The process prints the message and exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A signal stopped the command. The process exits with 130 or 143, without a message. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  readonly exitCode: 130 | 143;

  constructor(signal: 'SIGINT' | 'SIGTERM' = 'SIGINT') {
    super(signal);
    this.exitCode = signal === 'SIGINT' ? 130 : 143;
  }
}

/** A failure that the user can fix. The process prints the message and exits with 1. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
}

/** A failure that another run of the command may end. The process exits with 75 (EX_TEMPFAIL). */
export class TemporaryError extends CommandError {
  override readonly name = 'TemporaryError';
}

/** The error of a file that cannot be read, which a system call reported. */
export const readFailure = (file: string, error: unknown): UsageError =>
  new UsageError(`Cannot read '${file}': it must be a file that this user can read (${codeOf(error)})`);

/** Reads a file as text. Throws its `readFailure`. */
export function readTextFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw readFailure(file, error);
  }
}

/** The error of a file that cannot be written, which a system call reported. */
export function writeFailure(file: string, error: unknown): CommandError {
  const rule = isDiskFull(error)
    ? 'its disk must have room'
    : 'it must be a file that this user can write, in an existing folder';
  return new CommandError(`Cannot write '${file}': ${rule} (${codeOf(error)})`, { cause: error });
}

/** Whether a system call reported a full disk, or the end of a quota. */
export const isDiskFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(error));

/** The code of an error of a system call, such as ENOSPC. */
export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? (error as Error).message;
