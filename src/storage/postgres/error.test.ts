import { expect, test } from 'vitest';
import { StorageError } from '../error.ts';
import { isConnectionLost, isRolledBack, toStorageError } from './error.ts';

/** An error of a server whose messages are German. */
const serverError = (code: string, severity: string) => toStorageError(Object.assign(new Error(), { code, severity }));

test('a shutdown of the server is a lost connection in any language of its messages', () => {
  const error = serverError('57P01', 'PANIK');
  expect(error).toBeInstanceOf(StorageError);
  expect([isConnectionLost(error), isRolledBack(error)]).toEqual([true, false]);
});

test('a statement that took too long is rolled back, and its connection is not lost', () => {
  const error = serverError('57014', 'FEHLER');
  expect([isConnectionLost(error), isRolledBack(error)]).toEqual([false, true]);
});

test('after an error without a severity, the transaction may have been committed', () => {
  const error = toStorageError(Object.assign(new Error(), { code: 'ECONNRESET' }));
  expect([isConnectionLost(error), isRolledBack(error)]).toEqual([true, false]);
});

test.each([
  ['a prepared statement from before a migration', '0A000', 'UNAVAILABLE'],
  ['a standby in recovery', '55000', 'UNAVAILABLE'],
  ['damaged data', 'XX001', 'UNUSABLE'],
  ['a damaged index', 'XX002', 'UNUSABLE'],
])('%s is a failure of the store, not a defect of ours', (_what, code, expected) => {
  expect(serverError(code, 'ERROR')).toMatchObject({ name: 'StorageError', code: expected });
});
