/**
 * Why the store could not do its work.
 * - `UNAVAILABLE`: it cannot be reached, is starting, stopping or too slow; the same request may
 *   work later.
 * - `BUSY`: another writer held the lock for longer than was waited; the same request may work
 *   later.
 * - `FULL`: there is no room left where the data is kept.
 * - `UNUSABLE`: the store is not set up as it must be (schema, permissions, role); somebody has to
 *   act.
 */
export type StorageErrorCode = 'UNAVAILABLE' | 'BUSY' | 'FULL' | 'UNUSABLE';

/**
 * A failure of the store itself, told apart from a defect of ours by its `code`. The message is for
 * the operator, never for a client.
 */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
