/** A kind of error: its HTTP status (RFC 9110) and the title that all its responses have. */
interface ErrorKind {
  readonly status: number;
  readonly title: string;
}

/**
 * The error table: every value of `type` in a problem response. The server maps codes to statuses,
 * clients map them back; no other file contains an error status. The codes are those of the
 * published Connect API v1, with additions where it is silent (`docs/decisions/error-codes.md`).
 */
export const errorTable = {
  INVALID_HTTP_MESSAGE: { status: 400, title: 'The request cannot be parsed' },
  INVALID_REQUEST_PARAMS: { status: 400, title: 'A request parameter is not valid' },
  UNAUTHORISED: { status: 401, title: 'A valid access token is required' },
  ACCESS_DENIED: { status: 403, title: 'The access token does not allow this' },
  NOT_FOUND: { status: 404, title: 'The resource does not exist' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The method is not allowed for this resource' },
  UNACCEPTABLE: { status: 406, title: 'No representation matches the Accept header' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request did not arrive in time' },
  RESYNC_REQUIRED: { status: 410, title: 'The change token is no longer valid' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The request body is too large' },
  URI_TOO_LONG: { status: 414, title: 'The request URL is too long' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The media type of the request body is not supported' },
  TOO_MANY_REQUESTS: { status: 429, title: 'Too many requests' },
  HEADERS_TOO_LARGE: { status: 431, title: 'The request headers are too large' },
  INTERNAL_ERROR: { status: 500, title: 'An internal error occurred' },
  UNAVAILABLE: { status: 503, title: 'The service is temporarily unavailable' },
} as const satisfies Record<string, ErrorKind>;

/** A code of the error table: the `type` of a problem response. */
export type ErrorCode = keyof typeof errorTable;
