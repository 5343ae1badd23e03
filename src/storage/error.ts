/**
 * Why the store failed.
 * - `UNAVAILABLE`: it cannot be reached, is starting, stopping or too slow. A retry may succeed.
 * - `BUSY`: another writer held the lock for longer than the time limit. A retry may succeed.
 * - `FULL`: no disk space is left.
 * - `UNUSABLE`: its schema, permissions or role are wrong. An operator must act.
 */
export type StorageErrorCode = 'UNAVAILABLE' | 'BUSY' | 'FULL' | 'UNUSABLE';

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
