import { tlsFault } from '../../../outgoing/database.ts';
import { StorageError, type StorageErrorCode } from '../error.ts';

/**
 * SQLSTATE codes and classes (PostgreSQL manual, appendix A) that indicate a problem of the store
 * rather than of our statement.
 */
const codes: Readonly<Record<string, StorageErrorCode>> = {
  '08': 'UNAVAILABLE', // connection exceptions
  '0A000': 'UNAVAILABLE', // a prepared statement from before a migration: a new connection has none
  '26000': 'UNUSABLE', // prepared statement missing: a pooler
  '25': 'UNAVAILABLE', // read-only transaction: a standby during failover; idle for too long
  '28': 'UNUSABLE', // wrong user or password
  '3D000': 'UNUSABLE', // no such database
  '3F000': 'UNUSABLE', // no such schema
  '40001': 'BUSY', // serialization failure
  '40P01': 'BUSY', // deadlock, distributed ones included
  '40': 'UNAVAILABLE', // any other rollback
  '42P05': 'UNUSABLE', // prepared statement exists already: a pooler
  '42501': 'UNUSABLE', // insufficient privilege
  '42883': 'UNUSABLE', // no such function: not migrated
  '42P01': 'UNUSABLE', // no such table: not migrated
  '53100': 'FULL', // disk full
  '53': 'UNAVAILABLE', // out of memory or connections
  '55P03': 'BUSY', // lock timeout
  '55': 'UNAVAILABLE', // still in recovery: a standby during failover; in use by others
  '57': 'UNAVAILABLE', // shutting down, starting up, statement timeout
  '58': 'UNAVAILABLE', // I/O error of the server
  XX000: 'UNAVAILABLE', // a lost node of a Citus cluster; what else it may be is rare and passes
};

/**
 * Classes of defects in our statements: bad values, violated constraints, wrong syntax, `raise`.
 */
const ownDefect = /^(?:22|23|42|P0)/;

/**
 * Converts an error of the driver to `StorageError`. Only the SQLSTATE decides, never the message.
 * An error without one comes from the connection (refused, reset, timed out). A defect in a
 * statement is returned unchanged; any other SQLSTATE, such as damaged data, is `UNUSABLE`.
 */
export function toStorageError(error: unknown): unknown {
  if (error instanceof StorageError) return error;
  const { code, message, severity } = error as { code?: string; message?: string; severity?: string };
  // the following lines are advice of the driver's library, or what somebody else wrote
  const [first] = (message || `${code}`).split(/[\r\n\u0085\u2028\u2029]/);
  if (severity === undefined || code === undefined)
    return new StorageError('UNAVAILABLE', `Cannot use PostgreSQL: ${first}`, error);
  const known = codes[code] ?? codes[code.slice(0, 2)];
  if (known === undefined && ownDefect.test(code)) return error;
  const hint = known === undefined ? ` (SQLSTATE ${code}); the log of the server says more` : (hints[code] ?? '');
  return new StorageError(known ?? 'UNUSABLE', `Cannot use PostgreSQL: ${first}${hint}`, error);
}

const oldPooler =
  '; a pooler in transaction mode must support prepared statements: use PgBouncer 1.21 or later with max_prepared_statements above 0, or pool_mode=session (docs/operators/operating.md, Poolers)';

const heldLock =
  '; no other session may hold the lock for so long: pg_blocking_pids() names it (docs/operators/runbook.md, SubreportPoolWaits); try again';

const lostNode =
  '; on a Citus cluster, the worker of the tenant must run (docs/operators/citus.md, Failure of a worker)';

const hints: Readonly<Record<string, string>> = {
  ...{ '26000': oldPooler, '42P05': oldPooler },
  ...{ '55P03': heldLock, XX000: lostNode },
  '42501': '; its role lacks a right: grant it as deploy/postgres-roles.sql does (docs/operators/operating.md, Roles)',
};

const moreFiles =
  'this process must be allowed to open more files: raise its limit (ulimit -n, LimitNOFILE) or lower EXPORTS_MAX';

/** What to do about a connection that failed, by the code of the server or of this system. */
const remedies: Readonly<Record<string, string>> = {
  // a pooler rejects a start-up option as a protocol violation
  '08P01': 'name the option in ignore_startup_parameters of the pooler (docs/operators/operating.md, Poolers)',
  '28000': 'create the role, or let pg_hba.conf accept it from this machine',
  '28P01': 'correct the user or the password in DATABASE_URL',
  '3D000': 'create the database (docs/operators/operating.md, PostgreSQL) or correct DATABASE_URL',
  '42501': 'grant connect on the database to the role',
  '53300': 'lower DATABASE_POOL_SIZE, or raise max_connections or the limit of the role or the database',
  '57P03': 'it answers, but is starting, stopping or in recovery; try again',
  EMFILE: moreFiles,
  ENFILE: moreFiles,
};

/** Adds the address, without user and password, and the remedy to a connection error. */
export function withAddress(error: unknown, url: string): unknown {
  if (!(error instanceof StorageError)) return error;
  const { hostname, port, pathname } = new URL(url);
  const { code = '', severity } = (error.cause ?? {}) as ServerError;
  const isRefused = code === '08P01';
  const place = `${hostname || 'a local socket'}:${port || 5432}${pathname}`;
  const other = severity === undefined ? 'start PostgreSQL there or correct DATABASE_URL' : 'its log says more';
  const remedy = remedies[code] ?? tlsFault(error.cause) ?? other;
  const message = `${error.message}; DATABASE_URL points to ${place}: ${remedy}`;
  return new StorageError(isRefused ? 'UNUSABLE' : error.code, message, error.cause);
}

/**
 * Whether an operation failed because its connection is dead, so that it may succeed on another
 * one.
 */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof StorageError) || error.code !== 'UNAVAILABLE') return false;
  const { severity, code } = (error.cause ?? {}) as ServerError;
  return error.cause !== undefined && (severity === undefined || endsConnection(code));
}

const codeOf = (error: unknown): ServerError =>
  ((error instanceof StorageError ? error.cause : error) ?? {}) as ServerError;

/** Whether the server ended a statement itself, as it does after `statement_timeout`. */
export const isCanceled = (error: unknown): boolean => codeOf(error).code === '57014';

/**
 * Whether a commit failed that a worker of Citus may have made: the coordinator, which rolls back,
 * did not get its response, or did not wait for it.
 */
export const isUnconfirmed = (error: unknown): boolean => /^(?:XX000|57014)$/.test(codeOf(error).code ?? '');

/**
 * Whether the server rejected a commit, which rolls its transaction back. After a lost connection
 * or a missed deadline, the transaction may have been committed.
 */
export function isRolledBack(error: unknown): boolean {
  const { severity, code } = codeOf(error);
  return severity !== undefined && !endsConnection(code) && !isUnconfirmed(error);
}

/** An error of the server; errors of the connection have no severity. */
interface ServerError {
  /** In the language of the server (`lc_messages`). */
  readonly severity?: string;
  readonly code?: string;
}

/**
 * Whether the server closes the connection after an error: connection exceptions, shutdowns, and
 * sessions or transactions that took too long.
 */
const endsConnection = (code = ''): boolean => /^(?:08|57P|25P0[34])/.test(code);

/** An error of the driver or the server as a `StorageError`; any other error stays as it is. */
export function translateError(error: unknown): unknown {
  const isDefect = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return isDefect ? error : toStorageError(error);
}

/** Whether a lock was not free in time. */
export function isBusy(error: unknown): boolean {
  const translated = toStorageError(error);
  return translated instanceof StorageError && translated.code === 'BUSY';
}
