import pg from 'pg';
import { before, operationMsDefault, overdue } from '../deadline.ts';
import { StorageError } from '../error.ts';
import type { TenantId } from '../store.ts';
import { parserOf } from './batch.ts';
import { close, closeAtOnce, connect, connectMsMax, createDedicatedClient } from './connect.ts';
import { isConnectionLost, isFromDriver, toStorageError, withAddress } from './error.ts';
import { distributedOption, serverTimeouts, sessionOptions } from './session.ts';
import { TenantLanes } from './tenant-lanes.ts';

/** How to reach PostgreSQL, and what to do when a pooled connection breaks while idle. */
export interface PostgresOptions {
  readonly url: string;
  /** Connections at most, at least 1. */
  readonly poolSize: number;
  /**
   * Longest time for an operation that has no deadline, in milliseconds; `operationMsDefault` when
   * not given.
   */
  readonly operationMs?: number;
  /** Told of each broken idle connection; the pool replaces it by itself. */
  readonly onConnectionError: (error: Error) => void;
  /**
   * Told once when the URL leads to a pooler: changes by other processes cannot be listened for,
   * and each request asks the database.
   */
  readonly onPooler?: () => void;
}

/** How a connection is used. */
export interface Use {
  /** A time of `performance.now()`; without it the work has a time of its own. */
  readonly deadline: number | undefined;
  /** That time in milliseconds, when it is not that of every operation. */
  readonly longestMs?: number;
  /** Whose rows the work is about, if they are one tenant's. */
  readonly tenant?: TenantId;
  /**
   * Whether the work only reads: when its connection turns out to be dead, it is done once more on
   * a fresh one.
   */
  readonly reads?: boolean;
}

/** The pool of connections, each use of which ends by a deadline, and connections beside it. */
export class PostgresConnections {
  readonly #url: string;
  readonly #operationMs: number;
  readonly #pool: pg.Pool;
  readonly #lanes: TenantLanes;
  /** Connections that were used before: the server may have closed them meanwhile. */
  readonly #used = new WeakSet<pg.PoolClient>();

  constructor({ url, poolSize, operationMs = operationMsDefault, onConnectionError }: PostgresOptions) {
    this.#url = url;
    this.#operationMs = operationMs;
    this.#lanes = new TenantLanes(poolSize);
    this.#pool = new pg.Pool({
      connectionString: url,
      max: poolSize,
      ...serverTimeouts(operationMs),
      connectionTimeoutMillis: Math.min(connectMsMax, operationMs),
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      pipeline: true, // statements that do not wait for each other share a round trip
      application_name: 'subreport',
      options: sessionOptions,
      types: { getTypeParser: parserOf },
    });
    // Without a listener one killed backend would end the process: the pool listens for idle
    // connections, a connection in use has none of its own.
    this.#pool.on('error', onConnectionError);
    // its statements fail with the same error
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /**
   * Runs work on a connection of the pool. Waiting for it, and all that the work does, ends by the
   * deadline. Whatever fails, the connection is closed rather than rolled back: a server that hangs
   * does not answer a rollback, and a pooler forgets what a failed batch had prepared.
   */
  async use<T>(
    work: (client: pg.ClientBase) => Promise<T>,
    { deadline, longestMs = this.#operationMs, tenant, reads = false }: Use,
  ): Promise<T> {
    const end = deadline ?? performance.now() + longestMs;
    const leave = tenant === undefined ? undefined : await this.#lanes.enter(tenant, end);
    let hung = false;
    const giveUp = (): void => {
      hung = true;
    };
    try {
      return await this.#useOnce(await this.#connect(end), work, end, giveUp).catch(async (error: unknown) => {
        if (!reads || hung || !isConnectionLost(error)) throw error;
        return this.#useOnce(await this.#connectAnew(end), work, end, giveUp);
      });
    } finally {
      leave?.(hung);
    }
  }

  /**
   * Runs work on a connection beside the pool without bounds in time: a migration of a large table,
   * or the wait for another migrator, takes as long as it takes.
   */
  async useUnbounded<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = createDedicatedClient(this.#url, {
      name: 'subreport-migrate',
      pipeline: true,
      options: distributedOption,
      types: { getTypeParser: parserOf },
    });
    try {
      await connect(client, this.#url);
      return await work(client);
    } catch (error) {
      throw translate(error);
    } finally {
      await close(client);
    }
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #useOnce<T>(
    client: pg.PoolClient,
    work: (client: pg.ClientBase) => Promise<T>,
    deadline: number,
    giveUp: () => void,
  ): Promise<T> {
    try {
      const result = await before(deadline, work(client), giveUp);
      this.#used.add(client);
      client.release();
      return result;
    } catch (error) {
      destroy(client);
      throw translate(error);
    }
  }

  /** A connection of the pool; one that comes too late goes back to it. */
  async #connect(deadline: number): Promise<pg.PoolClient> {
    if (performance.now() >= deadline) throw overdue();
    const connecting = this.#pool.connect();
    let isLate = false;
    connecting.then(
      (client) => isLate && client.release(),
      () => undefined,
    );
    return before(deadline, connecting, () => {
      isLate = true;
    }).catch((error: unknown) => {
      throw withAddress(toStorageError(error), this.#url);
    });
  }

  /**
   * A connection that was not used before: when the server went away, all others of the pool are as
   * dead as the one that said so.
   */
  async #connectAnew(deadline: number): Promise<pg.PoolClient> {
    for (;;) {
      const client = await this.#connect(deadline);
      if (!this.#used.has(client)) return client;
      destroy(client);
    }
  }
}

/** Closes a connection of the pool, which makes room for another one. */
function destroy(client: pg.PoolClient): void {
  closeAtOnce(client);
  client.release(true);
}

function translate(error: unknown): unknown {
  if (error instanceof StorageError) return error;
  return isFromDriver(error) ? toStorageError(error) : error;
}
