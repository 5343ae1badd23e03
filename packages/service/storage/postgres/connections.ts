import pg from 'pg';
import { driverUrl, neverSendClearText } from '../../../outgoing/database.ts';
import { before, operationMsDefault, overdue } from '../deadline.ts';
import type { EngineOptions, PoolUse, TenantId } from '../store.ts';
import { closeAtOnce, connectMsMax } from './connect.ts';
import { isCanceled, isConnectionLost, toStorageError, translateError, withAddress } from './error.ts';
import { serverTimeouts, sessionOptions } from './session.ts';
import { parserOf } from './wire/batch.ts';
import { readMessages } from './wire/driver.ts';

/** How to connect to PostgreSQL, and callbacks for connection problems. */
export interface PostgresOptions extends EngineOptions {
  readonly url: string;
  /** Maximum connections in the pool, at least 1. */
  readonly poolSize: number;
  /** Called for each idle connection that breaks; the pool replaces it, and statements fail. */
  readonly onConnectionError?: ((error: Error) => void) | undefined;
  /**
   * Called once if the URL leads to a pooler: changes by other processes cannot be received then,
   * and each request queries the database.
   */
  readonly onPooler?: () => void;
}

/** How a connection is used. */
export interface Use {
  /** A time of `performance.now()`; without it, `longestMs` applies. */
  readonly deadline: number | undefined;
  /** Timeout in milliseconds if there is no deadline; that of the store when omitted. */
  readonly longestMs?: number;
  /** The tenant whose rows the work reads or changes, if it is limited to one. */
  readonly tenant?: TenantId;
  /**
   * Whether the work only reads: it is then retried once on a new connection if its connection
   * turns out to be dead.
   */
  readonly reads?: boolean;
  /** Work that waits for a connection when it aborts does not start. */
  readonly signal?: AbortSignal | undefined;
}

/** Time in milliseconds after which a tenant hangs whose export has no response. */
const silentMsMax = 2_000;

/** A client of the pool. */
class PrivateClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    neverSendClearText(this);
  }
}

/** The connection pool, whose uses are bounded by deadlines. */
export class PostgresConnections {
  readonly #url: string;
  readonly #operationMs: number;
  readonly #pool: pg.Pool;
  #observeWait: ((seconds: number) => void) | undefined;
  /** Connections that have completed a use: the server may have closed them since. */
  readonly #used = new WeakSet<pg.PoolClient>();
  /** Tenants whose last work did not finish in time; all are forgotten when there are 1,000. */
  readonly #hanging = new Set<string>();

  constructor({ url, poolSize, operationMs = operationMsDefault, onConnectionError }: PostgresOptions) {
    this.#url = url;
    this.#operationMs = operationMs;
    this.#pool = new pg.Pool({
      connectionString: driverUrl(url),
      Client: PrivateClient,
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
    // Without an error listener, one killed backend would crash the process: the pool listens on
    // idle connections, but a connection in use has no listener of its own.
    this.#pool.on('error', onConnectionError ?? (() => undefined));
    this.#pool.on('connect', (client) => {
      client.on('error', () => undefined); // its statements fail with the same error
      readMessages(client);
    });
  }

  /**
   * Runs work on a connection of the pool; both the wait for a connection and the work must finish
   * by the deadline. After any failure the connection is closed rather than rolled back: a hung
   * server does not respond to a rollback, and a pooler loses track of statements that a failed
   * batch prepared.
   */
  async use<T>(
    work: (client: pg.ClientBase) => Promise<T>,
    { deadline, longestMs = this.#operationMs, tenant, reads = false, signal }: Use,
  ): Promise<T> {
    const end = deadline ?? performance.now() + longestMs;
    const began = performance.now();
    const client = await this.#connect(end).finally(() => this.#observeWait?.((performance.now() - began) / 1000));
    if (signal?.aborted === true) {
      client.release();
      throw signal.reason;
    }
    let isLate = false;
    const once = (used: pg.PoolClient): Promise<T> =>
      this.#useOnce(used, work, end, () => {
        isLate = true;
      });
    try {
      return await once(client);
    } catch (error) {
      isLate ||= isCanceled(error);
      if (!reads || isLate || !isConnectionLost(error)) throw error;
      return await once(await this.#connectAnew(end));
    } finally {
      if (tenant !== undefined) this.#note(tenant, isLate);
    }
  }

  /** Notes whether a tenant hangs by work on a connection of its own. */
  async watch<T>(tenant: TenantId, work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#note(tenant, true), silentMsMax);
    const result = await work.finally(() => clearTimeout(timer));
    this.#note(tenant, false);
    return result;
  }

  #note(tenant: TenantId, isHanging: boolean): void {
    if (this.#hanging.size >= 1_000) this.#hanging.clear();
    if (isHanging) this.#hanging.add(tenant);
    else this.#hanging.delete(tenant);
  }

  /** Calls `observe` with the seconds that each use waited for its connection. */
  observeWaits(observe: (seconds: number) => void): void {
    this.#observeWait = observe;
  }

  /** Whether the last work of a tenant did not finish in time. */
  isHanging(tenant: string): boolean {
    return this.#hanging.has(tenant);
  }

  get poolUse(): PoolUse {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    // with an idle connection, work counts as waiting until the next tick
    return { busy: totalCount - idleCount, idle: idleCount, waiting: Math.max(0, waitingCount - idleCount) };
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
      throw translateError(error);
    }
  }

  /**
   * Takes a connection from the pool, first come, first served; one that arrives after the deadline
   * is returned to the pool.
   */
  async #connect(deadline: number): Promise<pg.PoolClient> {
    if (performance.now() >= deadline) throw overdue();
    const connecting = this.#pool.connect();
    let isLate = false;
    connecting.then(
      (client) => isLate && client.release(),
      () => undefined,
    );
    const giveUp = (): void => {
      isLate = true;
    };
    return await before(deadline, connecting, giveUp).catch((error: unknown) => {
      throw withAddress(toStorageError(error), this.#url);
    });
  }

  /**
   * Takes a connection that has not been used yet: after a server restart, all pooled connections
   * are as dead as the one that failed.
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
