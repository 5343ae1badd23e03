import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorTable } from '../../../contract/error.ts';
import type { ErrorCode } from '../../../contract/error-code.ts';
import { buildProblem, ProblemError, type ProblemReport } from '../../../contract/problem.ts';
import { AccessError, type AccessErrorCode, IssuerError, ThrottledError } from '../../auth/error.ts';
import { isOutOfFiles, StorageError } from '../../storage/error.ts';
import { RequestError } from './error.ts';
import { keepConnection } from './read-body.ts';

interface ErrorResponse {
  readonly report: ProblemReport;
  readonly headers: Readonly<Record<string, string>>;
}

/** The message of 404 for an unknown path. */
export const unknownPath = 'Cannot find the resource: the path must be one of those in /openapi.json';

/** Seconds after which a client may retry if the store is unavailable. */
export const retryAfterSeconds = '2';

/**
 * Sends an error as `application/problem+json` (RFC 9457). Only this function turns errors into
 * responses: an unknown error gets a fixed message, and its cause goes to the log.
 */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { report, headers } = describeError(error, request);
  const { status } = errorTable[report.code];
  for (const name of responseHeaders) reply.removeHeader(name);
  if (error instanceof AccessError) request.refusedClientId = error.clientId ?? null;
  logFault(error, request, report);
  keepConnection(error, reply);
  return reply
    .code(status)
    .headers({ 'cache-control': 'no-store', ...headers })
    .type('application/problem+json')
    .send(JSON.stringify(buildProblem(report, request.id)));
}

/** Logs the error of a handler that failed after the response was sent. */
export function logLateError(error: unknown, request: FastifyRequest): void {
  const { report } = describeError(error, request);
  // the response was that of the deadline, which has been logged
  if (report.code === 'UNAVAILABLE' && performance.now() > request.deadline) return;
  logFault(error, request, report);
}

function logFault(error: unknown, request: FastifyRequest, { code }: ProblemReport): void {
  // the access log has what this service refuses on purpose
  if (errorTable[code].status < 500 || error instanceof RequestError) return;
  request.log.error({ err: error, code }, 'request failed');
}

/** Headers of a response that failed while it was being made. */
const responseHeaders = [
  'content-disposition',
  'preference-applied',
  'trailer',
  'x-applied-filters',
  'x-erased-count',
  'x-explanation',
  'x-not-found',
  'x-revision',
  'x-total-count',
];

function describeError(error: unknown, request: FastifyRequest): ErrorResponse {
  if (error instanceof ProblemError) {
    return { report: error, headers: error instanceof RequestError ? error.headers : {} };
  }
  if (error instanceof AccessError) return describeAccessError(error);
  if (error instanceof ThrottledError) return later('TOO_MANY_REQUESTS', error.message, error.retryAfterSeconds);
  if (error instanceof IssuerError) return later('UNAVAILABLE', issuerUnavailable, error.retryAfterSeconds);
  if (error instanceof StorageError && error.code === 'OVER_BUDGET')
    return answer('STORAGE_BUDGET_EXCEEDED', error.message);
  if (error instanceof StorageError && error.code !== 'UNUSABLE')
    return later('UNAVAILABLE', describeStore(error), retryAfterSeconds);
  return describeFrameworkError(error, request);
}

const answer = (code: ErrorCode, message: string, headers: ErrorResponse['headers'] = {}): ErrorResponse => ({
  report: { code, messages: [message] },
  headers,
});

const later = (code: ErrorCode, message: string, waitSeconds: number | string): ErrorResponse =>
  answer(code, message, { 'retry-after': String(waitSeconds) });

const describeStore = (error: StorageError): string =>
  storeMessages[error.code] ?? (isOutOfFiles(error) ? filesUsedUp : storeAway);

const filesUsedUp = 'Cannot respond now: the service must be allowed to open more files; try again shortly';
const storeAway = 'Cannot respond now: the database must be reachable; try again shortly';
const storeMessages: Partial<Record<string, string>> = {
  FULL: 'Cannot respond now: the disks of the database and of temporary files must have free space; try again after the operator has freed some',
  OUTCOME_UNKNOWN:
    'Cannot tell whether the change was made: the database must confirm its commit; the outcome is not known yet: read the records again shortly',
};

const issuerUnavailable =
  'Cannot check the access token now: the keys of the identity provider must be readable; try again shortly';

/** Maps an error of the framework by its status; any other error is our own failure. */
function describeFrameworkError(error: unknown, { routeOptions }: FastifyRequest): ErrorResponse {
  const { statusCode } = error as { statusCode?: number };
  const code = statusCode === undefined ? undefined : frameworkCodes[statusCode];
  if (code === 'PAYLOAD_TOO_LARGE')
    return answer(code, `Cannot read the request: its body must have at most ${routeOptions.bodyLimit} bytes`);
  if (code !== undefined) return answer(code, frameworkMessages[code] ?? errorTable[code].title);
  return answer(
    'INTERNAL_ERROR',
    'Cannot respond: an internal error occurred; report the correlation_id to the operator',
  );
}

const frameworkCodes: Readonly<Record<number, ErrorCode>> = Object.fromEntries(
  (['INVALID_HTTP_MESSAGE', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const).map((code) => [
    errorTable[code].status,
    code,
  ]),
);

const frameworkMessages: Partial<Record<ErrorCode, string>> = {
  INVALID_HTTP_MESSAGE:
    'Cannot read the request: its URL must be percent-encoded UTF-8, and its body must match its Content-Length',
  UNSUPPORTED_MEDIA_TYPE:
    'Cannot read the request: its body must have a supported media type: application/json for a search, application/x-ndjson or text/csv to load records',
};

const accessCodes: Readonly<Record<AccessErrorCode, ErrorCode>> = {
  MISSING_TOKEN: 'UNAUTHORISED',
  MALFORMED: 'INVALID_HTTP_MESSAGE',
  INVALID_TOKEN: 'UNAUTHORISED',
  INSUFFICIENT_SCOPE: 'ACCESS_DENIED',
};

/** `error` of the challenge (RFC 6750 §3.1); none if no token was sent (§3). */
const challengeErrors: Readonly<Record<AccessErrorCode, string | undefined>> = {
  MISSING_TOKEN: undefined,
  MALFORMED: 'invalid_request',
  INVALID_TOKEN: 'invalid_token',
  INSUFFICIENT_SCOPE: 'insufficient_scope',
};

function describeAccessError({ code, message, scope }: AccessError): ErrorResponse {
  const attributes = ['realm="subreport"'];
  const error = challengeErrors[code];
  if (error !== undefined) attributes.push(`error="${error}"`, `error_description="${message}"`);
  if (scope !== undefined) attributes.push(`scope="${scope}"`);
  return answer(accessCodes[code], message, { 'www-authenticate': `Bearer ${attributes.join(', ')}` });
}
