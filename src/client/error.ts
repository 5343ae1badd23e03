import type { ErrorCode } from '../contract/error.ts';
import type { Problem } from '../contract/problem.ts';
import type { TokenErrorCode } from '../contract/token.ts';

/**
 * The service refused a request (RFC 9457). `code` narrows in a `switch`; `problem` is the whole
 * answer.
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
 * The token endpoint refused the client's credentials or the request (RFC 6749 §5.2); trying again
 * does not help.
 */
export class TokenRequestError extends Error {
  override readonly name = 'TokenRequestError';
  readonly code: TokenErrorCode;

  constructor(code: TokenErrorCode, description: string) {
    super(description);
    this.code = code;
  }
}

/**
 * No answer that can be used came in time, however often it was tried; `cause` is the last thing
 * that went wrong.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}
