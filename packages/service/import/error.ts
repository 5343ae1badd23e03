import { StorageError } from '../storage/error.ts';

/**
 * Why an import stopped as a whole; a single invalid row is not a reason.
 * - `UNREADABLE`: the source is not in the given format.
 * - `BAD_ROWS`: a strict import found invalid rows and loaded nothing, or more rows were rejected
 *   than allowed.
 * - `EMPTY`: the source of a replacement has no rows, and the caller did not allow that.
 * - `BUSY`: another import into the same tenant is running.
 * - `OTHER_SOURCE`: the source is not the one of the import to resume.
 * - `NO_TENANT`: the tenant was deleted, or is being deleted.
 * - `TOO_LARGE`: the source is larger than a stored source may be.
 * - `OVER_BUDGET`: the records do not fit into the storage budget of the tenant, or have too many
 *   distinct values.
 * - `NO_ROOM`: there is currently no space to store the source.
 */
type ImportErrorCode =
  | 'UNREADABLE'
  | 'BAD_ROWS'
  | 'EMPTY'
  | 'BUSY'
  | 'OTHER_SOURCE'
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

/** Rethrows the error of a store; of a load that exceeds the storage budget, also what it left. */
export const toOverBudget =
  (left: string) =>
  (error: unknown): never => {
    if (!(error instanceof StorageError) || error.code !== 'OVER_BUDGET') throw error;
    throw new ImportError('OVER_BUDGET', `${error.message}; ${left}`);
  };
