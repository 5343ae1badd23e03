import pg from 'pg';
import { BoundedMap } from '../bounded-map.ts';
import { before, operationMsDefault, overdue } from '../deadline.ts';
import { StorageError } from '../error.ts';
import type { PoolUse, TenantId } from '../store.ts';
import { parserOf } from './batch.ts';
import { close, connect, connectMsMax, createDedicatedClient } from './connect.ts';
import {
  closedByOther,
  isClosedByOther,
  isConnectionLost,
  isFromDriver,
  toStorageError,
  withAddress,
} from './error.ts';
import { readMessages } from './message-reader.ts';
import { distributedOption, serverTimeouts, sessionOptions } from './session.ts';
import { type Connection, destroy, SharedConnection } from './shared-connection.ts';
import { type LeaveLane, TenantLanes } from './tenant-lanes.ts';

/** How to connect to PostgreSQL, and callbacks for connection problems. */
export interface PostgresOptions {
  readonly url: string;
  /** Maximum connections in the pool, at least 1. */
  readonly poolSize: number;
  /**
   * Timeout of an operation without a deadline, in milliseconds; `operationMsDefault` when omitted.
   */
  readonly operationMs?: number;
  /** Called for each idle connection that breaks; the pool replaces it. */
  readonly onConnectionError: (error: Error) => void;
  /**
   * Called once if the URL leads to a pooler: changes by other processes cannot be received then,
   * and each request queries the database.
   */
  readonly onPooler?: () => void;
}

/**
 * A read that takes longer than this is not short, whatever its statement promises: the indexes
 * may be missing during a first load, or its rows may not be in memory.
 */
const shortReadMs = 50;
const slowTenantMs = 10_000;

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
  /**
   * Whether the work is one short read, which may share its connection with those that start in
   * the same turn of the event loop.
   */
  readonly shares?: boolean;
}

/**
 * The connection pool, whose uses are bounded by deadlines, and clients outside it for unbounded
 * work.
 */
export class PostgresConnections {
  readonly #url: string;
  readonly #operationMs: number;
  readonly #pool: pg.Pool;
  readonly #lanes: TenantLanes;
  #observeWait: ((seconds: number) => void) | undefined;
  /** Connections that have completed a use: the server may have closed them since. */
  readonly #used = new WeakSet<pg.PoolClient>();
  /** The connection that the short reads of this turn share. */
  #shared: SharedConnection | undefined;
  /** Tenants with a read that was not short, in milliseconds: they share no connection for now. */
  readonly #slowTenants = new BoundedMap<number>({ name: 'slow_tenants', entriesMax: 1_000, bytesMax: 1_048_576 });

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
    // Without an error listener, one killed backend would crash the process: the pool listens on
    // idle connections, but a connection in use has no listener of its own.
    this.#pool.on('error', onConnectionError);
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
    { deadline, longestMs = this.#operationMs, tenant, reads = false, shares = false }: Use,
  ): Promise<T> {
    const end = deadline ?? performance.now() + longestMs;
    const { connection, leave } = await this.#acquire(tenant, end, shares);
    let isLate = false;
    let hung = false;
    const once = (used: Connection): Promise<T> =>
      this.#useOnce(used, work, end, () => {
        isLate = true;
        hung = !used.isWaiting();
      });
    const onNewConnection = async (error: unknown): Promise<T> => {
      if (!reads || isLate || !isConnectionLost(error)) throw error;
      return once(await this.#connectAnew(end));
    };
    try {
      return await once(connection);
    } catch (error) {
      if (isLate || !isClosedByOther(error)) return await onNewConnection(error);
      // the other connections are probably intact
      return await once(await this.#connect(end)).catch(onNewConnection);
    } finally {
      leave?.(hung);
    }
  }

  /**
   * Runs work on a dedicated connection without a time limit: migrating a large table or waiting
   * for another migration may take long.
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

  /** Calls `observe` with the seconds that each use waited for its connection. */
  observeWaits(observe: (seconds: number) => void): void {
    this.#observeWait = observe;
  }

  /** Whether the last work of a tenant did not finish in time. */
  isHanging(tenant: string): boolean {
    return this.#lanes.isSuspect(tenant);
  }

  get poolUse(): PoolUse {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    // with an idle connection, work counts as waiting until the next tick
    const waiting = Math.max(0, waitingCount - idleCount) + this.#lanes.waiting;
    return { busy: totalCount - idleCount, idle: idleCount, waiting };
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #useOnce<T>(
    connection: Connection,
    work: (client: pg.ClientBase) => Promise<T>,
    deadline: number,
    giveUp: () => void,
  ): Promise<T> {
    try {
      const result = await before(deadline, work(connection.client), giveUp);
      this.#used.add(connection.client);
      connection.release();
      return result;
    } catch (error) {
      const isOwnFailure = connection.close();
      throw isOwnFailure ? translate(error) : closedByOther(error);
    }
  }

  /** Waits until the tenant may use a connection, and for the connection. */
  async #acquire(
    tenant: TenantId | undefined,
    deadline: number,
    shares: boolean,
  ): Promise<{ readonly connection: Connection; readonly leave: LeaveLane | undefined }> {
    const began = performance.now();
    let leave: LeaveLane | undefined;
    try {
      leave = tenant === undefined ? undefined : await this.#lanes.enter(tenant, deadline);
      const isShared = shares && tenant !== undefined && this.#slowTenants.get(tenant) === undefined;
      return { connection: await (isShared ? this.#share(tenant, deadline) : this.#connect(deadline)), leave };
    } catch (error) {
      leave?.(false);
      throw error;
    } finally {
      this.#observeWait?.((performance.now() - began) / 1000);
    }
  }

  /** Takes the connection of this turn, or begins to share another one. */
  #share(tenant: TenantId, deadline: number): Promise<Connection> {
    if (performance.now() >= deadline) throw overdue();
    if (this.#shared?.isOpen !== true) this.#shared = new SharedConnection(this.#pool.connect());
    return this.#shared.join(
      (connecting) => this.#waitFor(connecting, deadline),
      (ms) => ms > shortReadMs && this.#slowTenants.set(tenant, ms, slowTenantMs),
    );
  }

  /**
   * Takes a connection from the pool; one that arrives after the deadline is returned to the pool.
   */
  async #connect(deadline: number): Promise<Connection> {
    if (performance.now() >= deadline) throw overdue();
    const connecting = this.#pool.connect();
    let isLate = false;
    connecting.then(
      (client) => isLate && client.release(),
      () => undefined,
    );
    const client = await this.#waitFor(connecting, deadline, () => {
      isLate = true;
    });
    return { client, release: () => client.release(), close: () => destroy(client), isWaiting: () => false };
  }

  #waitFor(connecting: Promise<pg.PoolClient>, deadline: number, giveUp?: () => void): Promise<pg.PoolClient> {
    return before(deadline, connecting, giveUp).catch((error: unknown) => {
      throw withAddress(toStorageError(error), this.#url);
    });
  }

  /**
   * Takes a connection that has not been used yet: after a server restart, all pooled connections
   * are as dead as the one that failed.
   */
  async #connectAnew(deadline: number): Promise<Connection> {
    for (;;) {
      const connection = await this.#connect(deadline);
      if (!this.#used.has(connection.client)) return connection;
      connection.close();
    }
  }
}

function translate(error: unknown): unknown {
  if (error instanceof StorageError) return error;
  return isFromDriver(error) ? toStorageError(error) : error;
}
