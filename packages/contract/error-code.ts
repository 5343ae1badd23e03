/**
 * Every value of `type` in a problem response, with its HTTP status (RFC 9110). The codes are those
 * of the published Connect API v1, with additions where it is silent
 * (`docs/decisions/responses.md#error-codes`). The client library includes this table, without the
 * titles.
 */
export const errorStatuses = {
  INVALID_HTTP_MESSAGE: 400,
  INVALID_REQUEST_PARAMS: 400,
  UNAUTHORISED: 401,
  SESSION_ENDED: 401,
  ACCESS_DENIED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  UNACCEPTABLE: 406,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  RESYNC_REQUIRED: 410,
  HISTORY_NOT_KEPT: 410,
  PAYLOAD_TOO_LARGE: 413,
  STORAGE_BUDGET_EXCEEDED: 413,
  URI_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  TOO_MANY_REQUESTS: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  UNAVAILABLE: 503,
} as const;

/** A code of the error table: the `type` of a problem response. */
export type ErrorCode = keyof typeof errorStatuses;

/**
 * Error codes of the token endpoint with their status (RFC 6749 §5.2, RFC 7009 §2.2.1; the last
 * three are not in these standards).
 */
export const tokenErrorStatuses = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  unsupported_token_type: 400,
  slow_down: 429,
  server_error: 500,
  temporarily_unavailable: 503,
} as const satisfies Record<string, number>;

/** A code of this table: the `error` of a rejected token request. */
export type TokenErrorCode = keyof typeof tokenErrorStatuses;
