import type { ErrorCode } from '../../../contract/error-code.ts';
import { type Fault, ProblemError } from '../../../contract/problem.ts';

/** Further parts of the response to a rejected request. */
interface RequestErrorDetails {
  /** Header fields of the response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further messages. */
  readonly more?: readonly string[];
  readonly faults?: readonly Fault[];
  /** Further members of the body (RFC 9457 §3.2). */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** A request that the HTTP layer itself refuses. The messages are shown to the client. */
export class RequestError extends ProblemError {
  override readonly name = 'RequestError';
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    { headers = {}, more = [], faults = [], members = {} }: RequestErrorDetails = {},
  ) {
    super({ code, messages: [message, ...more], faults, members });
    this.headers = headers;
  }
}
