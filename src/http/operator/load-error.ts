import type { RejectedRow } from '../../contract/load.ts';
import type { ImportError } from '../../import/error.ts';
import { RequestError } from '../listener/error.ts';

/** Longest message of a problem, in characters (`contract/problem.ts`). */
const messageMax = 2_048;

/** Turns the failure of a load into a response, which lists the rejected rows. */
export function toRequestError({ code, message }: ImportError, rejected: readonly RejectedRow[]): RequestError {
  switch (code) {
    case 'BUSY':
      return new RequestError('UNAVAILABLE', message, { headers: { 'retry-after': '10' } });
    case 'NO_ROOM':
      return new RequestError('UNAVAILABLE', message, { headers: { 'retry-after': '60' } });
    case 'NO_TENANT':
      return new RequestError('NOT_FOUND', message);
    case 'TOO_LARGE':
      return new RequestError('PAYLOAD_TOO_LARGE', message);
    default:
      return new RequestError('INVALID_HTTP_MESSAGE', message, { more: rejected.map(rowMessage) });
  }
}

function rowMessage({ line, errors }: RejectedRow): string {
  const faults = errors.map(({ field, rule }) => `${field === '' ? 'the row' : field} must be ${rule}`);
  return `line ${line}: ${faults.join('; ')}`.slice(0, messageMax);
}
