import type { Writable } from 'node:stream';
import type pg from 'pg';

/**
 * Sends all statements that `send` asks for in one write. Each would be a write of its own, which
 * wakes the server up for itself, and writing to the socket is the largest part of what a page
 * costs this process.
 */
export function inOneWrite<T>(client: pg.ClientBase, send: () => T): T {
  // its types do not name it
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Writable } }).connection;
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}

/**
 * Runs `work` after the opening statements, which are on their way already, and commits.
 * `committing` is the commit that work has sent itself behind its last statement, if it has. When
 * anything fails, the caller closes the connection, which ends the transaction.
 */
export async function inTransaction<T>(
  client: pg.ClientBase,
  opening: readonly Promise<unknown>[],
  work: () => Promise<T>,
  committing: () => Promise<unknown> | undefined = () => undefined,
): Promise<T> {
  const working = work();
  await Promise.all([...opening, working]);
  await (committing() ?? client.query('commit'));
  return working;
}
