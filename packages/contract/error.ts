import { type ErrorCode, errorStatuses } from './error-code.ts';

/** The title that all responses with a code have. */
const titles: Readonly<Record<ErrorCode, string>> = {
  INVALID_HTTP_MESSAGE: 'The request cannot be parsed',
  INVALID_REQUEST_PARAMS: 'A request parameter is not valid',
  UNAUTHORISED: 'A valid access token is required',
  SESSION_ENDED: 'The session of the console has ended',
  ACCESS_DENIED: 'The access token does not allow this',
  NOT_FOUND: 'The resource does not exist',
  METHOD_NOT_ALLOWED: 'The method is not allowed for this resource',
  UNACCEPTABLE: 'No acceptable representation is available',
  REQUEST_TIMEOUT: 'The request did not arrive in time',
  CONFLICT: 'The present state of the resource does not allow this',
  RESYNC_REQUIRED: 'The change token is no longer valid',
  HISTORY_NOT_KEPT: 'The history does not reach back to this moment',
  PAYLOAD_TOO_LARGE: 'The request body is too large',
  STORAGE_BUDGET_EXCEEDED: 'The storage budget of the tenant has no room for the records',
  URI_TOO_LONG: 'The request URL is too long',
  UNSUPPORTED_MEDIA_TYPE: 'The media type of the request body is not supported',
  TOO_MANY_REQUESTS: 'Too many requests',
  HEADERS_TOO_LARGE: 'The request headers are too large',
  INTERNAL_ERROR: 'An internal error occurred',
  UNAVAILABLE: 'The service is temporarily unavailable',
};

/** A kind of error: its HTTP status (RFC 9110) and its title. */
type ErrorTable = {
  readonly [Code in ErrorCode]: { readonly status: (typeof errorStatuses)[Code]; readonly title: string };
};

/**
 * The error table. The server maps codes to statuses, clients map them back; no other file contains
 * an error status.
 */
export const errorTable = Object.fromEntries(
  Object.entries(errorStatuses).map(([code, status]) => [code, { status, title: titles[code as ErrorCode] }]),
) as ErrorTable;
