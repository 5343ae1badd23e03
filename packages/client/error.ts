import type { ErrorCode, TokenErrorCode } from '../contract/error-code.ts';
import { readRetryAfter } from '../contract/retry-after.ts';

/** An invalid parameter of a request: its name, its value and the rule that it breaks. */
export interface ParameterFault {
  parameter: string;
  /** The value received, truncated; null if none was sent, or if it is personal data. */
  value: string | null;
  rule: string;
}

/** The body of an error response (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  messages: string[];
  errors: ParameterFault[];
  correlation_id: string;
  /** With `HISTORY_NOT_KEPT`: the oldest instant that can be read; absent without a history. */
  history_begins_at?: string;
}

/** The request of an error. */
export interface ErrorContext {
  /** The `X-Correlation-ID` of the request: include it when you report a problem. */
  readonly correlationId: string;
  /** Number of attempts that were made. */
  readonly attempts: number;
}

/** A failed request. Each subclass has its own set of codes. */
export abstract class SubreportError extends Error {
  abstract readonly code: string;
  readonly correlationId: string;
  /** Number of attempts that were made. */
  readonly attempts: number;

  constructor(message: string, { correlationId, attempts }: ErrorContext, options?: ErrorOptions) {
    super(message, options);
    this.correlationId = correlationId;
    this.attempts = attempts;
  }
}

/** A response that is not successful. */
export abstract class RejectionError extends SubreportError {
  readonly status: number;
  readonly headers: Headers;
  /** How long to wait before the next attempt, if the response has `Retry-After`. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status, headers }: Response, context: ErrorContext) {
    super(message, context);
    this.status = status;
    this.headers = headers;
    this.retryAfterMs = readRetryAfter(headers.get('retry-after'));
  }
}

/** The service rejected a request (RFC 9457). `problem` is the complete response body. */
export class ApiError extends RejectionError {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly problem: Problem;

  constructor(code: ErrorCode, problem: Problem, response: Response, context: ErrorContext, hint = '') {
    super((problem.detail ?? code) + hint, response, context);
    this.code = code;
    this.problem = problem;
  }
}

/** The token endpoint rejected the credentials or the request (RFC 6749 §5.2). */
export class TokenRequestError extends RejectionError {
  override readonly name = 'TokenRequestError';
  readonly code: TokenErrorCode;

  constructor(code: TokenErrorCode, message: string, response: Response, context: ErrorContext) {
    super(message, response, context);
    this.code = code;
  }
}

/** Why a response cannot be used. */
export type ResponseErrorCode = 'REDIRECTED' | 'UNKNOWN_ERROR' | 'UNKNOWN_FORMAT';

/** A response that is not from the service, for example the error page of a proxy. */
export class ResponseError extends RejectionError {
  override readonly name = 'ResponseError';
  readonly code: ResponseErrorCode;

  constructor(code: ResponseErrorCode, message: string, response: Response, context: ErrorContext) {
    super(message, response, context);
    this.code = code;
  }
}

/** Why a connection failed; always `NETWORK_FAILED` in browsers, which do not reveal the cause. */
export type ConnectionErrorCode =
  | 'CONNECTION_REFUSED'
  | 'CONNECTION_LOST'
  | 'HOST_NOT_FOUND'
  | 'CERTIFICATE_REJECTED'
  | 'HEADERS_OVERFLOW'
  | 'NETWORK_FAILED';

/** The connection failed or was lost; `cause` is the error of the runtime. */
export class ConnectionError extends SubreportError {
  override readonly name = 'ConnectionError';
  readonly code: ConnectionErrorCode;

  constructor(code: ConnectionErrorCode, message: string, context: ErrorContext, cause: unknown) {
    super(message, context, { cause });
    this.code = code;
  }
}

/** The service took longer than `timeoutMs`. */
export class TimeoutError extends SubreportError {
  override readonly name = 'TimeoutError';
  readonly code = 'TIMEOUT';
}

/** How an export differs from its summary: incomplete, without a summary, or altered. */
export type ExportErrorCode = 'INCOMPLETE' | 'UNVERIFIABLE' | 'ROWS_DIFFER' | 'HASH_DIFFERS';

/** An export is incomplete or altered, or cannot be verified. Discard what was read. */
export class ExportError extends SubreportError {
  override readonly name = 'ExportError';
  readonly code: ExportErrorCode;

  constructor(code: ExportErrorCode, message: string, context: ErrorContext) {
    super(message, context);
    this.code = code;
  }
}

/**
 * How the runtimes describe a failed connection, in the error or its causes: Node.js by `code`,
 * Deno by the text, Bun by both. Browsers describe none.
 */
const kinds: readonly (readonly [RegExp, ConnectionErrorCode, string])[] = [
  [/ECONNREFUSED|ConnectionRefused|connection refused/i, 'CONNECTION_REFUSED', 'the connection was refused'],
  [/ENOTFOUND|EAI_AGAIN|dns error|failed to lookup/i, 'HOST_NOT_FOUND', 'the host name was not found'],
  [/HEADERS?_OVERFLOW/, 'HEADERS_OVERFLOW', 'the headers of the response must be shorter'],
  [/CERT|cert|weak|UNABLE_TO_VERIFY|TLS|SSL/, 'CERTIFICATE_REJECTED', 'its certificate was rejected'],
  [
    /ECONNRESET|ConnectionClosed|EPIPE|UND_ERR_SOCKET|terminated|closed|reset|reading a body/i,
    'CONNECTION_LOST',
    'the connection was closed before the response was complete',
  ],
];

const otherKind = [/^/, 'NETWORK_FAILED', 'the network failed, or the request was blocked'] as const;

/** The error of a connection that failed. */
export function connectionErrorOf(url: string, failure: unknown, context: ErrorContext): ConnectionError {
  const text = describe(failure);
  const [, code, what] = kinds.find(([pattern]) => pattern.test(text)) ?? otherKind;
  const { origin } = new URL(url);
  const reach = `reach ${origin}: it must accept the request and respond`;
  const task = code === 'HEADERS_OVERFLOW' ? `read the response of ${origin}` : reach;
  return new ConnectionError(code, `Cannot ${task}: ${what}`, context, failure);
}

/** The codes and messages of an error, of its causes and of the errors that it collects. */
function describe(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  const { code = '', errors = [] } = failure as { code?: unknown; errors?: unknown[] };
  const inner = failure.cause === undefined ? errors : [failure.cause, ...errors];
  return [code, failure.message, ...inner.map(describe)].join(' ');
}
