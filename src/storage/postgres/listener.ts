import type pg from 'pg';
import { createDedicatedClient } from './connect.ts';

/** Name of the channel that changes are announced on. */
export const changeChannel = 'subreport_change';

const heartbeatMs = 300;
/**
 * A listener whose last heartbeat began longer ago is not taken for alive: a change counts within
 * this time at the latest, and one second was promised.
 */
export const silenceMsMax = 900;
const reconnectMsMax = 10_000;

/**
 * Listens for announced changes on a connection of its own (LISTEN belongs to a session). `mark`
 * says `undefined` whenever the connection is not proved alive by a recent heartbeat, so that
 * whoever relies on it asks the database instead. So it stays behind a pooler: its next heartbeat
 * may prove another session alive than the one that listens.
 */
export class PostgresListener {
  readonly #url: string;
  readonly #onPooler: () => void;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #mark = 1;
  #aliveAt = Number.NEGATIVE_INFINITY;
  #reconnectMs = heartbeatMs;
  #closed = false;
  #isPoolerTold = false;

  /** `onPooler` is told once, when there is a pooler between us and the server. */
  constructor(url: string, onPooler: () => void) {
    this.#url = url;
    this.#onPooler = onPooler;
  }

  start(): void {
    if (this.#timer === undefined && !this.#closed) this.#schedule(0);
  }

  /**
   * Grows with each change that was announced, and with each new connection, as changes may have
   * been missed before it.
   */
  mark(): number | undefined {
    return performance.now() - this.#aliveAt < silenceMsMax ? this.#mark : undefined;
  }

  /**
   * Notes a change that this process made itself: what it does next must not wait for the
   * notification of it.
   */
  noteOwnChange(): void {
    this.#mark += 1;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#disconnect();
  }

  #schedule(delayMs: number): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#beat(), delayMs);
    this.#timer.unref();
  }

  /** Connects when there is no connection, proves it alive when there is one. */
  async #beat(): Promise<void> {
    const startedAt = performance.now();
    try {
      if (this.#client === undefined) await this.#connect();
      else await this.#requireOwnSession(this.#client);
      this.#aliveAt = startedAt; // it was alive at least when it was asked
      this.#reconnectMs = heartbeatMs;
      this.#schedule(heartbeatMs);
    } catch {
      // requests ask the database meanwhile, and report what is wrong with it
      await this.#disconnect();
      this.#schedule(this.#reconnectMs);
      this.#reconnectMs = Math.min(this.#reconnectMs * 2, reconnectMsMax);
    }
  }

  async #connect(): Promise<void> {
    const client = createDedicatedClient(this.#url, {
      name: 'subreport-listen',
      keepAlive: true,
      connectMs: 2_000,
      queryMs: silenceMsMax,
      onLost: () => this.#lose(client),
    });
    this.#client = client;
    client.on('notification', () => {
      this.#mark += 1;
    });
    await client.connect();
    await this.#requireOwnSession(client);
    await client.query(`listen ${changeChannel}`);
    this.#mark += 1;
  }

  /**
   * Fails when the session that answers is not the one that the connection was opened to: a pooler
   * makes up process ids.
   */
  async #requireOwnSession(client: pg.Client): Promise<void> {
    const { rows } = await client.query('select pg_backend_pid() as pid');
    // its types do not name it
    if (rows[0]?.pid === (client as unknown as { readonly processID: number }).processID) return;
    if (!this.#isPoolerTold) this.#onPooler();
    this.#isPoolerTold = true;
    throw new Error('Cannot listen for changes: the connection must be one to the server itself, not to a pooler');
  }

  #lose(client: pg.Client): void {
    if (this.#client === client) this.#aliveAt = Number.NEGATIVE_INFINITY;
  }

  async #disconnect(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#aliveAt = Number.NEGATIVE_INFINITY;
    await client?.end().catch(() => undefined); // broken already: there is nothing left to close
  }
}
