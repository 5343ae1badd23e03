import { StorageError } from '../storage/error.ts';

/**
 * Why an import stopped as a whole; a single invalid row is not a reason.
 * - `UNREADABLE`: the source is not in the given format.
 * - `BAD_ROWS`: a strict import found invalid rows and loaded nothing, or more rows were rejected
 *   than allowed.
 * - `REMOVES_MANY`: a replacement removes so many records that their number must be confirmed.
 * - `BUSY`: another import into the same tenant is running.
 * - `NO_TENANT`: the tenant was deleted, or is being deleted.
 * - `TOO_LARGE`: the source is larger than a stored source may be.
 * - `OVER_BUDGET`: the records do not fit into the storage budget of the tenant, or have too many
 *   distinct values.
 * - `NO_ROOM`: there is currently no space to store the source.
 */
type ImportErrorCode =
  | 'UNREADABLE'
  | 'BAD_ROWS'
  | 'REMOVES_MANY'
  | 'BUSY'
  | 'NO_TENANT'
  | 'TOO_LARGE'
  | 'OVER_BUDGET'
  | 'NO_ROOM';

/** An import that cannot continue. The message says what to do. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
  readonly code: ImportErrorCode;

  constructor(code: ImportErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Rethrows the error of a store; of a load that it refuses, also what it left. */
export const sayLeft =
  (left: string) =>
  (error: unknown): never => {
    if (!(error instanceof StorageError) || (error.code !== 'OVER_BUDGET' && error.code !== 'REMOVES_MANY'))
      throw error;
    throw new ImportError(error.code, `${error.message}; ${left}`);
  };
