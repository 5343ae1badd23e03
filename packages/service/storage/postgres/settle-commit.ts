import type pg from 'pg';
import { StorageError } from '../error.ts';
import type { Row } from '../store.ts';

/** A change whose statements have succeeded; its commit is next. */
export interface ReadyChange<T> {
  readonly result: T;
  /** The tenant's row with the new revision; absent if it makes none. */
  readonly row: Row | undefined;
}

export const commit = (client: pg.ClientBase): Promise<unknown> => confirm(client, client.query('commit'));

/**
 * Waits for statements that end with a commit. Throws if Citus warns: a node has prepared the
 * transaction and has not confirmed its commit, so it cannot be read yet.
 */
export async function confirm<T>(client: pg.ClientBase, committing: Promise<T>): Promise<T> {
  const notices: { readonly code?: string | undefined }[] = [];
  const note = (notice: (typeof notices)[number]): void => void notices.push(notice);
  client.on('notice', note);
  const result = await committing.finally(() => client.off('notice', note));
  const warning = notices.find(({ code }) => code?.startsWith('01'));
  if (warning !== undefined) throw unknownOutcome(warning);
  return result;
}

/**
 * Runs a change. If its commit fails, it may have been made nevertheless: the connection was lost
 * before the response, on Citus also that between its nodes. Then `readRow`, which waits for the
 * lock of the tenant's row and so for the end of the transaction, tells whether it was. Throws
 * `OUTCOME_UNKNOWN` if that is not known in time.
 */
export async function settleCommit<T>(
  run: (onReady: (change: ReadyChange<T>) => T) => Promise<T>,
  readRow: () => Promise<Row | undefined>,
): Promise<T> {
  let ready: ReadyChange<T> | undefined;
  try {
    return await run((change) => {
      ready = change;
      return change.result;
    });
  } catch (error) {
    if (ready === undefined) throw error;
    const { result, row } = ready;
    const found = row && (await readRow().catch((cause: unknown) => Promise.reject(unknownOutcome(cause))));
    if (row === undefined || found === undefined) throw unknownOutcome(error);
    if (Object.keys(row).every((name) => String(row[name]) === String(found[name]))) return result;
    throw Number(found.revision) < Number(row.revision) ? error : unknownOutcome(error);
  }
}

export const unknownOutcome = (cause: unknown): StorageError =>
  new StorageError(
    'OUTCOME_UNKNOWN',
    'Cannot tell whether the change was made: the database must confirm its commit; look at what is there before you repeat it',
    cause,
  );
