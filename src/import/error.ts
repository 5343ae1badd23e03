/**
 * Why an import cannot go on as a whole; a single bad row is no reason.
 * - `UNREADABLE`: the source cannot be read as the format it should be in.
 * - `BAD_ROWS`: a strict import found rows that break a rule, and loaded nothing; or more rows were
 *   rejected than any import may have.
 * - `EMPTY`: a source without rows is to replace all records, and nobody said that it may.
 * - `BUSY`: another import into the same tenant is running.
 * - `OTHER_SOURCE`: the source is not the one whose import is to be resumed.
 * - `NO_TENANT`: the tenant was deleted, or is being deleted.
 * - `TOO_LARGE`: the source is larger than one that may be kept to be read twice.
 * - `NO_ROOM`: there is no room now to keep the source.
 */
type ImportErrorCode =
  | 'UNREADABLE'
  | 'BAD_ROWS'
  | 'EMPTY'
  | 'BUSY'
  | 'OTHER_SOURCE'
  | 'NO_TENANT'
  | 'TOO_LARGE'
  | 'NO_ROOM';

/** An import that cannot go on. The message says what to do. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
  readonly code: ImportErrorCode;

  constructor(code: ImportErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
