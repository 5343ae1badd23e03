import type { Writable } from 'node:stream';
import type pg from 'pg';
import { type BatchStatement, runBatch } from './postgres-batch.ts';
import type { Row } from './store.ts';

/**
 * Sends all statements that `send` asks for in one write. Each would be a write of its own, which wakes the server up for itself, and
 * writing to the socket is the largest part of what a page costs this process.
 */
export function inOneWrite<T>(client: pg.ClientBase, send: () => T): T {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Writable } }).connection; // its types do not name it
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}

/** Runs a transaction as one batch: statements from the one that begins it to the commit. Gives the rows of each. */
export async function runTransaction(
  client: pg.ClientBase,
  statements: readonly BatchStatement[],
): Promise<readonly (readonly Row[])[]> {
  try {
    return await runBatch(client, statements);
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // the connection is gone: so is the transaction, and the first failure says why
    throw error;
  }
}

/**
 * Runs `work` after the opening statements, which are on their way already; commits, or rolls back when anything of it failed. `committing` is the commit that
 * work has sent itself behind its last statement, if it has; after a failure, that was a rollback.
 */
export async function inTransaction<T>(
  client: pg.ClientBase,
  opening: readonly Promise<unknown>[],
  work: () => Promise<T>,
  committing: () => Promise<unknown> | undefined = () => undefined,
): Promise<T> {
  const working = work();
  const outcomes = await Promise.allSettled([...opening, working]); // all of it: nothing may still be sent once the client is released
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed === undefined) {
    await (committing() ?? client.query('commit'));
    return working;
  }
  await Promise.allSettled([committing()]);
  await client.query('rollback').catch(() => undefined); // the connection is gone: so is the transaction, and the first failure says why
  throw failed.reason;
}
