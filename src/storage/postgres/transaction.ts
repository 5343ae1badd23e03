import type pg from 'pg';
import type { Row } from '../store.ts';
import { socketOf } from './connect.ts';

/** Runs one statement in the transaction of a change. */
export type RunStatement = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

/**
 * Sends all statements of `send` in one write. Otherwise each would be a separate write that wakes
 * the server, and writing to the socket is the largest part of this process's cost of a page.
 */
export function inOneWrite<T>(client: pg.ClientBase, send: () => T): T {
  const socket = socketOf(client);
  socket.cork();
  try {
    return send();
  } finally {
    socket.uncork();
  }
}

/**
 * Runs `work` after the opening statements, which have been sent already, and commits. `committing`
 * returns the commit if the work has already sent it after its last statement. After any failure,
 * the caller closes the connection, which rolls the transaction back.
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
