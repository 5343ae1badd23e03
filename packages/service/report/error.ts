import { describeFaults } from '../../contract/parameter-faults.ts';
import { type Fault, ProblemError, type ProblemReport } from '../../contract/problem.ts';

/**
 * Why a report cannot be returned.
 * - `INVALID_HTTP_MESSAGE`: a part of the query cannot be read at all, such as a date or a
 *   percent-encoding.
 * - `INVALID_REQUEST_PARAMS`: the query can be read, but a parameter breaks its rule.
 * - `URI_TOO_LONG`: the query is too long for links to other pages.
 * - `UNACCEPTABLE`: the client accepts none of the formats of the operation.
 * - `NOT_FOUND`: the tenant has no such subscription.
 * - `RESYNC_REQUIRED`: the change token belongs to another history than the tenant's in this store.
 * - `HISTORY_NOT_KEPT`: the history does not reach back to a moment.
 */
type ReportErrorCode =
  | 'INVALID_HTTP_MESSAGE'
  | 'INVALID_REQUEST_PARAMS'
  | 'URI_TOO_LONG'
  | 'UNACCEPTABLE'
  | 'NOT_FOUND'
  | 'RESYNC_REQUIRED'
  | 'HISTORY_NOT_KEPT';

/** A report that cannot be returned, with every fault of the request. */
export class ReportError extends ProblemError {
  override readonly name = 'ReportError';
  declare readonly code: ReportErrorCode;

  constructor(
    code: ReportErrorCode,
    messages: readonly string[],
    faults: readonly Fault[] = [],
    members: ProblemReport['members'] = {},
  ) {
    super({ code, messages, faults, members });
  }
}

/**
 * Throws `ReportError` with every fault of a query, if there is one; `unreadable` says that a value
 * could not be decoded.
 */
export function refuse(faults: readonly Fault[], unreadable: boolean): void {
  if (faults.length === 0) return;
  const { code, messages, faults: listed } = describeFaults(faults, unreadable);
  throw new ReportError(code, messages, listed);
}
