import { ClientError, KeyError } from '../../auth/error.ts';
import type { ErrorCode } from '../../contract/error-code.ts';
import { ImportError } from '../../import/error.ts';
import { OperatorError, type OperatorErrorCode } from '../../operator/error.ts';
import { RequestError } from '../listener/error.ts';
import { toRequestError } from './load-error.ts';

const codes: Readonly<Record<OperatorErrorCode, ErrorCode>> = {
  INVALID: 'INVALID_REQUEST_PARAMS',
  FORBIDDEN: 'ACCESS_DENIED',
  NOT_FOUND: 'NOT_FOUND',
  CONFLICT: 'CONFLICT',
  KEY_REUSED: 'IDEMPOTENCY_KEY_REUSED',
  TOO_MANY: 'TOO_MANY_REQUESTS',
};

const clientCodes: Readonly<Record<ClientError['code'], ErrorCode>> = {
  INVALID: 'INVALID_REQUEST_PARAMS',
  NOT_FOUND: 'NOT_FOUND',
  IN_USE: 'CONFLICT',
};

/** Rethrows the error of an action as the response that it gets. */
export function rejectAction(error: unknown): never {
  if (error instanceof OperatorError) {
    const headers: Record<string, string> = error.code === 'TOO_MANY' ? { 'retry-after': '3600' } : {};
    throw new RequestError(codes[error.code], error.message, { headers });
  }
  if (error instanceof ClientError) throw new RequestError(clientCodes[error.code], error.message);
  if (error instanceof KeyError && error.code === 'CONFLICT') throw new RequestError('CONFLICT', error.message);
  if (error instanceof ImportError) throw toRequestError(error, []);
  throw error;
}
