/** Why a mirror stopped. What it has mirrored stays, and the next run continues. */
type MirrorErrorCode =
  /** The origin responds with what is no report. */
  | 'ORIGIN_FAULT'
  /** The service of the tenant cannot be reached for a while. */
  | 'TARGET_FAULT'
  /** The origin rejects the credentials. */
  | 'ORIGIN_REJECTS'
  /** The state file is of another mirror, or in use. */
  | 'STATE'
  /** The disk of the state file is full, or fails. */
  | 'STATE_DISK'
  /** The tenant cannot be the mirror's. */
  | 'TENANT';

export class MirrorError extends Error {
  override readonly name = 'MirrorError';
  readonly code: MirrorErrorCode;

  constructor(code: MirrorErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
