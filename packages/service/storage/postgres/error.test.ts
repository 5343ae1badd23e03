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

test.each([
  ['57014', false],
  ['XX000', false],
  ['40001', true],
])('after %s of a commit, the connection is not lost, and it was rolled back: %s', (code, expected) => {
  const error = serverError(code, 'FEHLER');
  expect([isConnectionLost(error), isRolledBack(error)]).toEqual([false, expected]);
});

test('after an error without a severity, the transaction may have been committed', () => {
  const error = toStorageError(Object.assign(new Error(), { code: 'ECONNRESET' }));
  expect([isConnectionLost(error), isRolledBack(error)]).toEqual([true, false]);
});

test.each([
  ['a prepared statement from before a migration', '0A000', 'UNAVAILABLE'],
  ['a standby in recovery', '55000', 'UNAVAILABLE'],
  ['a transaction that was idle for too long', '25P03', 'UNAVAILABLE'],
  ['a table that others use', '55006', 'UNAVAILABLE'],
  ['a lost node of a Citus cluster', 'XX000', 'UNAVAILABLE'],
  ['damaged data', 'XX001', 'UNUSABLE'],
  ['a damaged index', 'XX002', 'UNUSABLE'],
])('%s is a failure of the store, not a defect of ours', (_what, code, expected) => {
  expect(serverError(code, 'ERROR')).toMatchObject({ name: 'StorageError', code: expected });
});

test('a lost node of a cluster is one line with its remedy, whatever libpq adds', () => {
  const text =
    'connection to the remote node a@b:1 failed with the following error: Connection refused\n\tIs it running?';
  const cause = Object.assign(new Error(text), { code: 'XX000', severity: 'ERROR' });
  expect(toStorageError(cause)).toMatchObject({
    message:
      'Cannot use PostgreSQL: connection to the remote node a@b:1 failed with the following error: Connection refused; on a Citus cluster, the worker of the tenant must run (docs/operators/citus.md, Failure of a worker)',
  });
});

test.each(['\n', '\r', '\u0085', '\u2028'])('what follows the line break %j of a message is not shown', (lineBreak) => {
  for (const known of [{}, { code: '54001', severity: 'ERROR' }])
    expect(toStorageError(Object.assign(new Error(`first${lineBreak}forged`), known))).toMatchObject({
      message: expect.stringMatching(/^Cannot use PostgreSQL: first(?!.*forged)/s),
    });
});

test('an error of the server that nothing else explains is a sentence with its SQLSTATE', () => {
  const cause = Object.assign(new Error('stack depth limit exceeded'), { code: '54001', severity: 'ERROR' });
  expect(toStorageError(cause)).toMatchObject({
    code: 'UNUSABLE',
    message: 'Cannot use PostgreSQL: stack depth limit exceeded (SQLSTATE 54001); the log of the server says more',
  });
});

test.each(['22003', '23505', '42601', 'P0001'])(
  'SQLSTATE %s is a defect of a statement, and keeps its stack',
  (code) => {
    expect(serverError(code, 'ERROR')).not.toBeInstanceOf(StorageError);
  },
);
