import type pg from 'pg';
import { closeAtOnce, socketOf } from './connect.ts';

/** A connection of the pool, in use. */
export interface Connection {
  readonly client: pg.PoolClient;
  /** Ends this use of it. */
  readonly release: () => void;
  /** Closes it, which makes room for another one; `false` if another use has done so. */
  readonly close: () => boolean;
  /** Whether this use waits for another one that has begun before. */
  readonly isWaiting: () => boolean;
}

/** Maximum reads that share a connection: each waits for those before it. */
const readsMax = 8;

/**
 * A connection that the short reads of one turn of the event loop share. Their statements are sent
 * in one write, so the server wakes once for all of them: that saves a quarter of the CPU time of a
 * page, in this process and in the server. Each read is a transaction of its own. If one fails, the
 * connection is closed, and the others fail as if it had been lost.
 */
export class SharedConnection {
  readonly #connecting: Promise<pg.PoolClient>;
  #client: pg.PoolClient | undefined;
  #joined = 0;
  /** Numbers of the reads that have joined and have not ended, in the order of their statements. */
  readonly #reads = new Set<number>();
  /** When the last read ended. */
  #endedMs = 0;
  #isTurnOver = false;

  constructor(connecting: Promise<pg.PoolClient>) {
    this.#connecting = connecting;
    setImmediate(() => {
      this.#isTurnOver = true;
      this.#releaseUnused();
    });
    connecting.then(
      (client) => {
        this.#client = client;
        this.#releaseUnused();
      },
      () => undefined, // each read gets the error
    );
  }

  /** Whether one more read may join. */
  get isOpen(): boolean {
    return !this.#isTurnOver && this.#joined < readsMax;
  }

  /**
   * Adds a read, which waits for the connection in its own way. `observe` is called with the
   * milliseconds that the read took, without those that it waited for others.
   */
  async join(
    waitFor: (connecting: Promise<pg.PoolClient>) => Promise<pg.PoolClient>,
    observe: (ms: number) => void,
  ): Promise<Connection> {
    this.#joined += 1;
    const read = this.#joined;
    this.#reads.add(read);
    try {
      const client = this.#client ?? (await waitFor(this.#connecting));
      sendTogether(client);
      const beganMs = performance.now();
      const end = (): void => {
        observe(performance.now() - Math.max(beganMs, this.#endedMs));
        this.#end(read);
      };
      return { client, release: end, close: () => this.#close(), isWaiting: () => this.#isWaiting(read) };
    } catch (error) {
      this.#end(read);
      throw error;
    }
  }

  #end(read: number): void {
    this.#reads.delete(read);
    this.#endedMs = performance.now();
    this.#releaseUnused();
  }

  #isWaiting(read: number): boolean {
    const [first] = this.#reads;
    return first !== read;
  }

  /** Gives the connection back after its last read. */
  #releaseUnused(): void {
    if (this.#reads.size > 0 || !this.#isTurnOver) return;
    this.#client?.release();
    this.#client = undefined;
  }

  #close(): boolean {
    this.#isTurnOver = true;
    const client = this.#client;
    this.#client = undefined;
    return client !== undefined && destroy(client);
  }
}

/** Closes a connection of the pool, which makes room for another one. */
export function destroy(client: pg.PoolClient): true {
  closeAtOnce(client);
  client.release(true);
  return true;
}

/** Sends what is written to a connection in this turn of the event loop in one write. */
function sendTogether(client: pg.ClientBase): void {
  const socket = socketOf(client);
  if (socket.writableCorked > 0) return;
  socket.cork();
  setImmediate(() => socket.uncork());
}
