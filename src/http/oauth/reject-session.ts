import type { FastifyRequest } from 'fastify';
import { TokenError } from '../../auth/error.ts';
import type { SignInMethod } from '../../contract/console-session.ts';
import type { ErrorCode } from '../../contract/error-code.ts';
import type { TokenErrorCode } from '../../contract/token-error.ts';
import { RequestError } from '../listener/error.ts';
import { describeSessionError, signInRequired } from '../listener/session-error.ts';
import { auditRequest } from './token-audit.ts';

/**
 * Makes the function that turns an error of a session, or of the authentication for one, into a
 * problem, and rethrows any other error.
 */
export const rejectSession =
  (request: FastifyRequest, signInMethods: readonly SignInMethod[]) =>
  (error: unknown): never => {
    if (!(error instanceof TokenError)) throw describeSessionError(error, signInMethods);
    auditRequest(request, { error: error.code });
    const code = codes[error.code] ?? 'INVALID_HTTP_MESSAGE';
    if (code === 'UNAUTHORISED') throw signInRequired(code, error.message, signInMethods);
    throw new RequestError(code, error.message, { headers: waitOf(error) });
  };

const codes: Partial<Record<TokenErrorCode, ErrorCode>> = {
  invalid_client: 'UNAUTHORISED',
  unauthorized_client: 'ACCESS_DENIED',
  invalid_scope: 'ACCESS_DENIED',
  slow_down: 'TOO_MANY_REQUESTS',
  temporarily_unavailable: 'UNAVAILABLE',
};

const waitOf = ({ retryAfterSeconds }: TokenError): Record<string, string> =>
  retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
