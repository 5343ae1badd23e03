import { workerData } from 'node:worker_threads';
import type { ChangeOptions } from '../commit/commit-change.ts';
import { changeTenant, type TenantChange } from '../commit/tenant-change.ts';
import { nextWaitMs, SqliteConnection, writerPragmas } from './connection.ts';
import { runOnSqlite } from './run-change.ts';
import { serveRequests } from './thread.ts';

// The writer thread of the embedded store. Changes of subscriptions, which take time proportional
// to their rows, run here while the main thread keeps serving requests. The store sends a request
// only when no other transaction of this process is open.

const { file } = workerData as WriterStart;
const connection = new SqliteConnection(file, 0);
// With the default cache of 2 MB, a transaction writes pages of the indexes several times. With the
// default of 1,000 pages, most commits copy the whole log (docs/decisions/imports.md#imports).
connection.run(`${writerPragmas}; pragma cache_size = -32768; pragma wal_autocheckpoint = 8192`);
const sleeping = new Int32Array(new SharedArrayBuffer(4));

serveRequests<WriteRequest>((request) => {
  if (request.kind === 'checkpoint') return connection.run('pragma wal_checkpoint(passive)');
  const isErasure = request.kind === 'erase records' || request.kind === 'delete tenant';
  // overwrite deleted content with zeros
  connection.run(`pragma secure_delete = ${isErasure ? 'on' : 'fast'}`);
  const deadline = performance.now() + request.waitMs;
  for (let waitMs = 1; !connection.beginWriting(deadline); waitMs = nextWaitMs(waitMs))
    Atomics.wait(sleeping, 0, 0, waitMs);
  return connection.commitAfter(() =>
    runOnSqlite({ connection, tenant: request.tenant }, changeTenant(request, request)),
  );
});

export interface WriterStart {
  readonly file: string;
}

export type WriteRequest =
  | (TenantChange &
      ChangeOptions & {
        /** Time limit for waiting for another process's write, in milliseconds. */
        readonly waitMs: number;
      })
  | { readonly kind: 'checkpoint' };
