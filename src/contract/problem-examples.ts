import type { ErrorCode } from './error-code.ts';
import { defaultPageLimits } from './page-limits.ts';
import { buildProblem, type Fault, faultSentence, type Problem } from './problem.ts';
import { reportParameters } from './query.ts';
import { ruleOf } from './schema.ts';

const fault: Fault = { parameter: 'size', value: '0', rule: ruleOf(reportParameters(defaultPageLimits).size) };

/** A message of each code, as the service sends it. */
const messages: Readonly<Record<ErrorCode, string>> = {
  INVALID_HTTP_MESSAGE: 'Cannot read the request: it must be HTTP/1.1',
  INVALID_REQUEST_PARAMS: faultSentence(fault),
  UNAUTHORISED:
    'Cannot accept the access token: its client must be active and belong to its issuer, and it must not have been revoked',
  SESSION_ENDED: 'Cannot continue the session: it ended because it was not used; sign in again',
  ACCESS_DENIED: "Cannot use the access token for this operation: its scope must include 'subscription:read'",
  NOT_FOUND: 'Cannot find the subscription: its id must be that of one of your subscriptions',
  METHOD_NOT_ALLOWED: 'Cannot use this method: it must be one of GET, HEAD',
  UNACCEPTABLE:
    "Cannot respond in the requested format: the header 'accept' must allow application/json, text/csv, application/x-ndjson, or format must be one of their names",
  REQUEST_TIMEOUT: 'Cannot read the body: its next bytes must arrive within 30 s',
  CONFLICT: "Cannot create the tenant: its name must not be in use: current value is 'acme'",
  RESYNC_REQUIRED:
    "Cannot continue from the token in 'since': it must be a token of the current records of the service; read everything again, without since, into an empty copy",
  PAYLOAD_TOO_LARGE: 'Cannot read the request: its body must be smaller',
  URI_TOO_LONG: 'Cannot read the request: its URL must have at most 8192 characters: current value is 9000',
  UNSUPPORTED_MEDIA_TYPE:
    'Cannot read the request: its body must have a supported media type: application/json for a search, application/x-ndjson or text/csv to load records',
  IDEMPOTENCY_KEY_REUSED:
    'Cannot repeat the request: its Idempotency-Key must not have been used for a request with another path or body',
  TOO_MANY_REQUESTS:
    'Cannot respond now: a client must send at most 600 requests per minute; wait for Retry-After seconds',
  HEADERS_TOO_LARGE: 'Cannot read the request: its headers must have at most 16384 bytes in total',
  INTERNAL_ERROR: 'Cannot respond: an internal error occurred; report the correlation_id to the operator',
  UNAVAILABLE: 'Cannot respond now: the database must be reachable; try again shortly',
};

/** A whole problem response of each code. */
export const problemExamples: Readonly<Record<string, Problem>> = Object.fromEntries(
  Object.entries(messages).map(([code, message]) => [
    code,
    buildProblem(
      { code: code as ErrorCode, messages: [message], faults: code === 'INVALID_REQUEST_PARAMS' ? [fault] : [] },
      '9f8a6c1e-4b07-4f7e-9a53-3f1f2f6a7c10',
    ),
  ]),
);
