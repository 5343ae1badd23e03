import type pg from 'pg';
import { createDedicatedClient } from './connect.ts';
import { processIdOf } from './wire/driver.ts';

export const changeChannel = 'subreport_change';

const heartbeatMs = 300;
/**
 * Maximum age of the last heartbeat in milliseconds, after which the connection counts as lost. It
 * bounds how late a change becomes visible; one second is documented.
 */
const silenceMsMax = 900;
const reconnectMsMax = 10_000;

/**
 * Listens for change notifications on a dedicated connection (LISTEN belongs to a session). `mark`
 * returns `undefined` unless a recent heartbeat proves the connection alive, so that callers query
 * the database instead. Behind a pooler it always returns `undefined`: the next heartbeat
 * might reach another session than the one that listens.
 */
export class ChangeNotifications {
  readonly #url: string;
  readonly #onPooler: () => void;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #mark = 1;
  #aliveAt = Number.NEGATIVE_INFINITY;
  /** The last `#aliveAt` of any connection, or the start. */
  #lastAliveAt = performance.now();
  #reconnectMs = heartbeatMs;
  #closed = false;
  #hasReportedPooler = false;

  /** @param onPooler called once if there is a pooler between us and the server */
  constructor(url: string, onPooler: () => void) {
    this.#url = url;
    this.#onPooler = onPooler;
  }

  start(): void {
    if (this.#timer === undefined && !this.#closed) this.#schedule(0);
  }

  /**
   * Grows with each notification, and with each new connection, because changes may have been
   * missed before it.
   */
  mark(): number | undefined {
    return performance.now() - this.#aliveAt < silenceMsMax ? this.#mark : undefined;
  }

  /** Milliseconds since a heartbeat last proved a connection alive; 0 behind a pooler. */
  ageMs(): number {
    return this.#hasReportedPooler ? 0 : performance.now() - this.#lastAliveAt;
  }

  /** Records a change made by this process: its next step must not wait for the notification. */
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

  /** Connects if there is no connection; otherwise proves that it is alive. */
  async #beat(): Promise<void> {
    const startedAt = performance.now();
    try {
      if (this.#client === undefined) await this.#connect();
      else await this.#requireOwnSession(this.#client);
      this.#aliveAt = startedAt; // it was alive at least when the query was sent
      this.#lastAliveAt = startedAt;
      this.#reconnectMs = heartbeatMs;
      this.#schedule(heartbeatMs);
    } catch {
      // meanwhile requests query the database and report its errors
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
   * Throws unless the responding session is the one that was connected: a pooler invents process
   * ids.
   */
  async #requireOwnSession(client: pg.Client): Promise<void> {
    const { rows } = await client.query('select pg_backend_pid() as pid');
    if (rows[0]?.pid === processIdOf(client)) return;
    if (!this.#hasReportedPooler) this.#onPooler();
    this.#hasReportedPooler = true;
    throw new Error('Cannot listen for changes: the connection must be one to the server itself, not to a pooler');
  }

  #lose(client: pg.Client): void {
    if (this.#client === client) this.#aliveAt = Number.NEGATIVE_INFINITY;
  }

  async #disconnect(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#aliveAt = Number.NEGATIVE_INFINITY;
    await client?.end().catch(() => undefined); // already broken: there is nothing left to close
  }
}
