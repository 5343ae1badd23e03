import type pg from 'pg';

/** Waits for all of what was sent, as nothing may be under way once the client is released; fails as the first of them that failed. */
export async function allDone(sent: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(sent)).find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
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
