/**
 * Why the store failed.
 * - `UNAVAILABLE`: it cannot be reached, is starting, stopping or too slow. A retry may succeed.
 * - `OUTCOME_UNKNOWN`: a commit was not confirmed, so the change was made or not.
 * - `BUSY`: another writer held the lock for longer than the time limit. A retry may succeed.
 * - `FULL`: no disk space is left.
 * - `OVER_BUDGET`: a load does not fit into the storage budget of its tenant, or has too many
 *   distinct values. The message is for
 *   the client.
 * - `REMOVES_MANY`: a replacement removes so many records that their number must be confirmed.
 * - `UNUSABLE`: its schema, permissions or role are wrong. An operator must act.
 */
export type StorageErrorCode =
  | 'UNAVAILABLE'
  | 'OUTCOME_UNKNOWN'
  | 'BUSY'
  | 'FULL'
  | 'OVER_BUDGET'
  | 'REMOVES_MANY'
  | 'UNUSABLE';

/**
 * A failure of the store, not a defect of ours. The message is for the operator, not for clients.
 */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Whether the store failed for a reason that may pass while nobody changes a setting. */
export const isTemporary = (error: unknown): error is StorageError =>
  error instanceof StorageError && ['UNAVAILABLE', 'BUSY', 'FULL'].includes(error.code);

/** Whether the store failed because this process, or the machine, has too many open files. */
export const isOutOfFiles = (error: unknown): boolean =>
  error instanceof StorageError && lacksFiles((error.cause ?? {}) as NodeJS.ErrnoException);

/** Whether a file, a connection or a thread could not be opened because too many files are open. */
export const lacksFiles = ({ code, message }: NodeJS.ErrnoException): boolean =>
  /^E[MN]FILE$/.test(code === 'ERR_WORKER_INIT_FAILED' ? message.slice(-6) : (code ?? ''));
