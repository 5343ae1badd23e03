import type { ErrorCode } from '../contract/error.ts';
import type { Problem } from '../contract/problem.ts';
import type { TokenErrorCode } from '../contract/token.ts';

/**
 * The service rejected a request (RFC 9457). `code` narrows in a `switch`; `problem` is the
 * complete response body.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.code = problem.type as ErrorCode;
    this.status = problem.status;
    this.problem = problem;
  }
}

/**
 * The token endpoint rejected the credentials or the request (RFC 6749 §5.2). Retrying does not
 * help.
 */
export class TokenRequestError extends Error {
  override readonly name = 'TokenRequestError';
  readonly code: TokenErrorCode;

  constructor(code: TokenErrorCode, description: string) {
    super(description);
    this.code = code;
  }
}

/** No usable response arrived in time, after all attempts; `cause` is the last error. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}
