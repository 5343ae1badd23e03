import { workerData } from 'node:worker_threads';
import { StorageError } from '../error.ts';
import type { Row, SqlValue, TenantStatement } from '../store.ts';
import { SqliteConnection, sqliteOpenWaitMs } from './connection.ts';
import { serveRequests, Transferred } from './thread.ts';

// A reader thread of the embedded store (`readers.ts`). Statements that may read more than a page
// run here. Each session is one snapshot of the store on its own connection.

interface Session {
  readonly connection: SqliteConnection;
  batches?: ReturnType<SqliteConnection['lineBatches']>;
}

const { file, interrupted } = workerData as ReaderStart;
const sessions = new Map<number, Session>();
const idle: SqliteConnection[] = [];

serveRequests<ReadRequest>((request) => {
  switch (request.kind) {
    case 'once':
      return readOnce(request.statement);
    case 'begin':
      sessions.set(request.session, { connection: begin() });
      return undefined;
    case 'all':
      return sessionOf(request.session).connection.all(interruptible(request.sql), request.values);
    case 'stream': {
      const session = sessionOf(request.session);
      session.batches = session.connection.lineBatches(interruptible(request.sql), request.values, request.batchRows);
      return nextBatch(session, undefined);
    }
    case 'next':
      return nextBatch(sessionOf(request.session), request.memory);
    case 'end':
      return endSession(request.session);
  }
});

function readOnce({ sql, values }: TenantStatement): readonly Row[] {
  const connection = begin();
  try {
    return connection.all(interruptible(sql), values);
  } finally {
    release(connection);
  }
}

function begin(): SqliteConnection {
  const connection = idle.pop() ?? open();
  // the first statement takes the snapshot, which is kept until the session ends
  connection.run('begin');
  return connection;
}

function open(): SqliteConnection {
  const connection = new SqliteConnection(file, sqliteOpenWaitMs);
  connection.run('pragma query_only = on');
  connection.define('goes_on', requireNotInterrupted);
  return connection;
}

function release(connection: SqliteConnection): void {
  connection.run('rollback');
  idle.push(connection);
}

function sessionOf(id: number): Session {
  const session = sessions.get(id);
  if (session === undefined)
    throw new StorageError(
      'UNAVAILABLE',
      'Cannot continue reading the embedded store: the thread of its snapshot must run',
    );
  return session;
}

function nextBatch({ batches }: Session, offered: ArrayBuffer | undefined): Transferred {
  const { rows, lines } = batches?.next().value ?? { rows: 0, lines: '' };
  const bytes = Buffer.byteLength(lines);
  const memory = offered !== undefined && offered.byteLength >= bytes ? offered : new ArrayBuffer(bytes + spareBytes);
  Buffer.from(memory).write(lines);
  return new Transferred({ rows, bytes, memory } satisfies TransferredBatch, [memory]);
}

/** Bytes to add when the buffer grows, so that it is usually large enough for the next batch. */
const spareBytes = 64 * 1024;

function endSession(id: number): void {
  const session = sessions.get(id);
  sessions.delete(id);
  session?.batches?.return(undefined); // finishes its statement, without which there is no rollback
  if (session !== undefined) release(session.connection);
}

/**
 * Node's SQLite has no interrupt, so statements check for one themselves, at about one row in
 * 1,024: a check at each row cost a tenth of the time, this costs nothing measurable.
 */
function interruptible(sql: string): string {
  return sql.replaceAll(
    /\b(subscription(?:_version)?\s+where tenant_id = \$1)/g,
    '$1 and (rowid % 1024 > 0 or goes_on())',
  );
}

function requireNotInterrupted(): SqlValue {
  if (Atomics.load(interrupted, 0) === 0) return 1;
  throw new StorageError(
    'UNAVAILABLE',
    'Cannot continue reading the embedded store: the request must still wait for it',
  );
}

export interface ReaderStart {
  readonly file: string;
  /** Shared with the main thread; nonzero when the running statement must be aborted. */
  readonly interrupted: Int32Array<SharedArrayBuffer>;
}

/** A batch of a stream: the first `bytes` of `memory`, which is transferred between the threads. */
export interface TransferredBatch {
  readonly rows: number;
  readonly bytes: number;
  readonly memory: ArrayBuffer;
}

/**
 * A request to a reader thread; `values` already include the tenant for `$1`. A session is one
 * snapshot of the store.
 */
export type ReadRequest =
  | { readonly kind: 'once'; readonly statement: TenantStatement }
  | { readonly kind: 'begin' | 'end'; readonly session: number }
  | {
      readonly kind: 'next';
      readonly session: number;
      /** Memory for the batch, if one is large enough; it is transferred to the thread. */
      readonly memory?: ArrayBuffer | undefined;
    }
  | { readonly kind: 'all'; readonly session: number; readonly sql: string; readonly values: readonly SqlValue[] }
  | {
      readonly kind: 'stream';
      readonly session: number;
      readonly sql: string;
      readonly values: readonly SqlValue[];
      readonly batchRows: number;
    };
