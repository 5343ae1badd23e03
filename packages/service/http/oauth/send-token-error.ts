import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, type TokenErrorCode, tokenErrorStatuses } from '../../../contract/error-code.ts';
import type { TokenErrorBody } from '../../../contract/oauth/token.ts';
import { TokenError } from '../../auth/error.ts';
import { StorageError } from '../../storage/error.ts';
import { RequestError } from '../listener/error.ts';
import { keepConnection } from '../listener/read-body.ts';
import { retryAfterSeconds as storeRetrySeconds } from '../listener/send-error.ts';
import { auditRequest } from './token-audit.ts';

/** Maximum size of a form, and its media type. */
export const bodyBytesMax = 65_536;
export const formType = 'application/x-www-form-urlencoded';

/** Keeps tokens and their errors out of caches (RFC 6749 §5.1). */
export function forbidStoring(reply: FastifyReply): void {
  reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
}

/**
 * Sends an error of an OAuth endpoint (RFC 6749 §5.2); every 401 has a challenge (RFC 9110
 * §15.5.2).
 */
export function sendTokenError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { code, message, retryAfterSeconds: wait = storeRetrySeconds } = describeTokenError(error);
  const status = tokenErrorStatuses[code];
  logTokenError(error, code, request);
  if (status === tokenErrorStatuses.invalid_client) {
    reply.header(
      'www-authenticate',
      `Basic realm="subreport", error="${code}", error_description="${message}", charset="UTF-8"`,
    );
  }
  if (waitStatuses.has(status)) reply.header('retry-after', String(wait));
  forbidStoring(reply);
  keepConnection(error, reply);
  const body: TokenErrorBody = { error: code, error_description: message };
  return reply.code(status).type('application/json').send(JSON.stringify(body));
}

function logTokenError(error: unknown, code: TokenErrorCode, request: FastifyRequest): void {
  const family = error instanceof TokenError ? error.reusedFamily : undefined;
  auditRequest(request, { error: code, ...(family !== undefined && { family }) });
  if (family !== undefined) {
    request.log.warn({ ...request.audit }, 'a refresh token was used again; its family is revoked');
  }
  // the access log has what this service refuses on purpose
  if (tokenErrorStatuses[code] < 500 || error instanceof RequestError || error instanceof TokenError) return;
  request.log.error({ err: error, code }, 'token request failed');
}

/** Statuses with `Retry-After`. */
const waitStatuses: ReadonlySet<number> = new Set([
  tokenErrorStatuses.slow_down,
  tokenErrorStatuses.temporarily_unavailable,
]);

function describeTokenError(
  error: unknown,
): Pick<TokenError, 'code' | 'message'> & { retryAfterSeconds?: number | undefined } {
  if (error instanceof TokenError) return error;
  if (error instanceof RequestError) {
    const { code, message, headers } = error;
    return { code: codes[code] ?? 'invalid_request', message, retryAfterSeconds: Number(headers['retry-after']) };
  }
  if (error instanceof StorageError && error.code !== 'UNUSABLE') {
    return { code: 'temporarily_unavailable', message: 'Cannot issue a token now: try again shortly' };
  }
  const { statusCode = 500 } = error as { statusCode?: number };
  if (statusCode < 500) {
    return {
      code: 'invalid_request',
      message: `Cannot read the request: its body must be of type ${formType} and have at most ${bodyBytesMax} bytes`,
    };
  }
  return { code: 'server_error', message: 'Cannot issue a token: an internal error occurred' };
}

const codes: Partial<Record<ErrorCode, TokenErrorCode>> = {
  TOO_MANY_REQUESTS: 'slow_down',
  UNAVAILABLE: 'temporarily_unavailable',
};
