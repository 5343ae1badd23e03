/**
 * One kind of error answer: its HTTP status (RFC 9110) and the title that every answer of this kind
 * carries.
 */
export interface ErrorKind {
  readonly status: number;
  readonly title: string;
}

/**
 * The error table: every code that the service can put into `type` of a problem answer, read
 * forwards by the server and backwards by clients. No other file holds a status number of an error.
 * The codes are those of the published Connect API v1, completed where it is silent
 * (`docs/decisions/error-codes.md`).
 */
export const errorTable = {
  INVALID_HTTP_MESSAGE: { status: 400, title: 'The request cannot be read' },
  INVALID_REQUEST_PARAMS: { status: 400, title: 'A request parameter is not valid' },
  UNAUTHORISED: { status: 401, title: 'A valid access token is needed' },
  ACCESS_DENIED: { status: 403, title: 'The access token does not allow this' },
  NOT_FOUND: { status: 404, title: 'There is nothing here' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The method is not allowed here' },
  UNACCEPTABLE: { status: 406, title: 'No representation fits the Accept header' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request did not arrive in time' },
  RESYNC_REQUIRED: { status: 410, title: 'The token of changes leads nowhere any more' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The request body is too large' },
  URI_TOO_LONG: { status: 414, title: 'The request URL is too long' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The media type of the body is not supported' },
  TOO_MANY_REQUESTS: { status: 429, title: 'Too many requests' },
  HEADERS_TOO_LARGE: { status: 431, title: 'The request headers are too large' },
  INTERNAL_ERROR: { status: 500, title: 'The service failed' },
  UNAVAILABLE: { status: 503, title: 'The service cannot answer now' },
} as const satisfies Record<string, ErrorKind>;

/** A code of the error table: the `type` of a problem answer. */
export type ErrorCode = keyof typeof errorTable;
