import { expect, test } from 'vitest';
import { ApiError, ConnectionError, ExportError, ResponseError, TokenRequestError } from '../../../client/index.ts';
import { SyncError } from './error.ts';
import { isTemporary } from './is-temporary.ts';

const context = { correlationId: 'a', attempts: 3 };
const connection = (code: ConnectionError['code']) => new ConnectionError(code, 'no', context, undefined);
const response = (status: number) => new ResponseError('UNKNOWN_ERROR', 'no', new Response(null, { status }), context);
const sync = (code: SyncError['code'], cause?: object) => new SyncError(code, 'no', { cause });
const withCode = (code: string) => Object.assign(new Error('no'), { code });
const rejected = new TokenRequestError('invalid_client', 'no', new Response(null, { status: 401 }), context);
const problem = { type: 'RESYNC_REQUIRED', title: '', status: 410, detail: '', messages: [], errors: [] };
const gone = new ApiError(
  'RESYNC_REQUIRED',
  { ...problem, correlation_id: 'a' },
  new Response(null, { status: 410 }),
  context,
);

const temporary: readonly [string, unknown][] = [
  ['a refused connection', connection('CONNECTION_REFUSED')],
  ['a host that is not found, as before the network is up', connection('HOST_NOT_FOUND')],
  ['503', response(503)],
  ['429', response(429)],
  ['408', response(408)],
  ['an export that was cut off', new ExportError('INCOMPLETE', 'no', context)],
  ['another sync of the copy', sync('DESTINATION_BUSY')],
  ['an event that was not accepted', sync('DELIVERY_PENDING')],
  ['a lost connection to the destination', sync('DESTINATION_FAILED', withCode('57P01'))],
];
const lasting: readonly [string, unknown][] = [
  ['a certificate that was rejected', connection('CERTIFICATE_REJECTED')],
  ['a wrong secret', rejected],
  ['a redirect', response(302)],
  ['410', gone],
  ['an export with another hash', new ExportError('HASH_DIFFERS', 'no', context)],
  ['a copy that differs', sync('NOT_EQUAL')],
  ['a destination that cannot be used', sync('DESTINATION_INVALID')],
  ['a full disk', sync('DESTINATION_FAILED', withCode('ENOSPC'))],
  ['a full disk of PostgreSQL', sync('DESTINATION_FAILED', withCode('53100'))],
  ['a mistake of the program', new TypeError('no')],
];

test.each(temporary)('%s is temporary', (_, error) => {
  expect(isTemporary(error)).toBe(true);
});

test.each(lasting)('%s is not temporary', (_, error) => {
  expect(isTemporary(error)).toBe(false);
});
