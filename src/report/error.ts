import type { Fault } from '../contract/problem.ts';

/**
 * A report also fails with this when the store does: given on to the rooms that ask for reports and
 * may not ask the store.
 */
export { StorageError } from '../storage/error.ts';

/**
 * Why a report cannot be given.
 * - `INVALID_HTTP_MESSAGE`: a part of the query cannot be read at all, a date or a
 *   percent-encoding.
 * - `INVALID_REQUEST_PARAMS`: the query can be read, but a parameter breaks its rule.
 * - `UNACCEPTABLE`: the client takes none of the forms that a report can be given in.
 * - `NOT_FOUND`: the tenant has no such subscription.
 * - `RESYNC_REQUIRED`: a token of changes is of another history than the tenant's in this store.
 */
type ReportErrorCode =
  | 'INVALID_HTTP_MESSAGE'
  | 'INVALID_REQUEST_PARAMS'
  | 'UNACCEPTABLE'
  | 'NOT_FOUND'
  | 'RESYNC_REQUIRED';

/**
 * A report that cannot be given, with every fault of the request at once. The messages are shown to
 * the client.
 */
export class ReportError extends Error {
  override readonly name = 'ReportError';
  readonly code: ReportErrorCode;
  readonly messages: readonly string[];
  readonly faults: readonly Fault[];

  constructor(code: ReportErrorCode, messages: readonly string[], faults: readonly Fault[] = []) {
    super(messages.join('; '));
    this.code = code;
    this.messages = messages;
    this.faults = faults;
  }
}
