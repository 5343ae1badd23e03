/**
 * Why a sync failed. With the first four, the command line names what to change and exits with 2;
 * with temporary ones (`isTemporary`) it exits with 75, with the others with 1.
 */
type SyncErrorCode =
  /** The destination cannot be used as it was given. */
  | 'DESTINATION_INVALID'
  /** The destination has something else, or somebody else has changed it. */
  | 'DESTINATION_CHANGED'
  /** The copy is of another service or client. */
  | 'OTHER_SOURCE'
  /** The endpoint of a webhook has responded with 410: it takes no more events. */
  | 'DESTINATION_GONE'
  /** The service is too old, or a record has what this version does not know. */
  | 'SOURCE_UNKNOWN'
  /** Another sync of the same destination is running. */
  | 'DESTINATION_BUSY'
  /** The destination failed or its connection was lost, which is temporary. */
  | 'DESTINATION_FAILED'
  /** The destination has refused what was written, and would again. */
  | 'DESTINATION_REFUSED'
  /** A place of files cannot be listed or read; it may still be possible to write to it. */
  | 'DESTINATION_UNREADABLE'
  /** The endpoint of a webhook has not accepted an event, which is tried again later. */
  | 'DELIVERY_PENDING'
  /** The service no longer has the report at the revision of the copy: nothing is known of it. */
  | 'REVISION_GONE'
  /** The copy differs from the report. */
  | 'NOT_EQUAL';

/** A sync that failed; nothing of it is in the destination. */
export class SyncError extends Error {
  override readonly name = 'SyncError';
  readonly code: SyncErrorCode;

  constructor(code: SyncErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
