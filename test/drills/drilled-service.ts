import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import type { RunningCommand } from '../support/run-command.ts';

/** A request that takes longer than this hangs. */
const hangMs = 120_000;

/** A response that was read to its end. */
export interface TextResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function textOf(responding: Promise<Response>): Promise<TextResponse> {
  const response = await responding;
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const refusal = (what: string, { status, text }: Pick<TextResponse, 'status' | 'text'>): string =>
  `${what}: the response is ${status} ${text}`;

/** A service in a child process, as its clients and its operator see it. */
export class DrilledService {
  readonly command: RunningCommand;
  readonly port: number;
  readonly managementPort: number;
  readonly client: Readonly<Record<'client_id' | 'client_secret', string>>;
  #token = '';

  constructor(command: RunningCommand, port: number, managementPort: number, client: DrilledService['client']) {
    this.command = command;
    this.port = port;
    this.managementPort = managementPort;
    this.client = client;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Requests an access token, which later requests use; returns the status. */
  async requestToken(): Promise<string> {
    const { status } = await this.#requestToken();
    return `${status}`;
  }

  /**
   * Logs in, again for as long as the response is 503, as clients do. Throws the response
   * otherwise: a drill that observes nothing but 401 has observed no fault.
   */
  async logIn(): Promise<void> {
    const { status, text } = await eventually(async () => {
      const response = await this.#requestToken();
      if (response.status === 503) throw new Error(refusal('the client must be logged in', response));
      return response;
    });
    if (status !== 200) throw new Error(refusal('the client must be logged in', { status, text }));
  }

  async #requestToken(): Promise<TextResponse> {
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...this.client });
    const response = await textOf(fetch(`${this.url}/oauth2/token`, { method: 'POST', body }));
    if (response.status === 200) this.#token = (JSON.parse(response.text) as { access_token: string }).access_token;
    return response;
  }

  get token(): string {
    return this.#token;
  }

  /** The status of a GET on a new connection, or the code of the connection's error. */
  status(path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    return new Promise((resolve) => {
      const options = { host: '127.0.0.1', port: this.port, path, agent: false, headers };
      const request = get(options, (response) => {
        const after = response.headers['retry-after'] === undefined ? '' : ' with Retry-After';
        response.resume();
        response.on('end', () => resolve(`${response.statusCode}${after}`));
        response.on('error', ({ message }) => resolve(message));
      });
      request.setTimeout(hangMs, () => request.destroy(Object.assign(new Error(), { code: 'no response' })));
      request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
  }

  /** The status of a report with the token; `size` differs, so that no work is used again. */
  report(query = `size=${1 + (this.#sizes++ % 999)}`, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    return this.status(`/connect-api/v1/subscription?${query}`, { authorization: `Bearer ${this.#token}`, ...headers });
  }
  #sizes = 0;

  /** Sends reports from some clients until it is stopped; returns the statuses then. */
  keepReporting(clients: number, pauseMs = 0) {
    const statuses = new Set<string>();
    let [sent, isOver] = [0, false];
    const running = Array.from({ length: clients }, async () => {
      while (!isOver) {
        statuses.add(await this.report());
        sent += 1;
        if (pauseMs > 0) await sleep(pauseMs);
      }
    });
    return {
      sent: () => sent,
      async stop(): Promise<ReadonlySet<string>> {
        isOver = true;
        await Promise.all(running);
        return statuses;
      },
    };
  }

  /** Reads a path below the report with the token; throws a response other than 200. */
  async read(path: string, headers: Readonly<Record<string, string>> = {}): Promise<TextResponse> {
    const response = await this.ask(path, headers);
    if (response.status !== 200) throw new Error(refusal(`'${path}' must be read`, response));
    return response;
  }

  /** The response to a path below the report with the token, whatever its status is. */
  ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<TextResponse> {
    const url = `${this.url}/connect-api/v1/subscription${path}`;
    return textOf(fetch(url, { headers: { authorization: `Bearer ${this.#token}`, ...headers } }));
  }

  /** The number of records that the service reports. */
  async total(): Promise<number> {
    const { headers } = await this.read('?size=1', { 'cache-control': 'no-cache' });
    return Number(headers.get('x-total-count') ?? Number.NaN);
  }

  /** Loads rows over HTTP; throws unless they were loaded. */
  async load(rows: string): Promise<void> {
    const response = await this.tryToLoad(rows);
    if (response.status !== 200) throw new Error(refusal('the rows must be loaded', response));
  }

  /** Sends rows over HTTP; returns the response, whatever its status is. */
  tryToLoad(rows: string, tenant = 'acme'): Promise<TextResponse> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/x-ndjson' };
    const url = `http://127.0.0.1:${this.managementPort}/operator/v1/tenants/${tenant}/subscriptions`;
    return textOf(fetch(url, { method: 'PUT', headers, body: rows }));
  }

  /** Reads all changes after a token: their ids, and the following token. */
  async changes(since?: string): Promise<{ readonly ids: ReadonlySet<string>; readonly next: string }> {
    const ids = new Set<string>();
    for (let next = since; ; ) {
      const query = new URLSearchParams({ size: '1000', ...(next !== undefined && { since: next }) });
      const { text } = await this.read(`/changes?${query}`);
      const page = JSON.parse(text) as { changes: { id: string }[]; next: string; has_more: boolean };
      for (const { id } of page.changes) ids.add(id);
      next = page.next;
      if (!page.has_more) return { ids, next };
    }
  }

  /** Waits until a request has this status. */
  until(status: string, ask: () => Promise<string> = () => this.report()): Promise<string> {
    return eventually(async () => {
      const seen = await ask();
      if (seen !== status) throw new Error(`the status must become ${status}: it is ${seen}`);
      return seen;
    });
  }

  connect(localAddress?: string): Socket {
    const socket = connect({ port: this.port, host: '127.0.0.1', ...(localAddress !== undefined && { localAddress }) });
    return socket.on('error', () => socket.destroy());
  }

  /** Every log line, parsed. */
  get log(): Record<string, unknown>[] {
    const lines = this.command.stdout().split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Process ids of the workers that began to listen, oldest first. */
  get workers(): number[] {
    return this.log.filter(({ msg }) => String(msg).startsWith('listening at ')).map(({ pid }) => Number(pid));
  }

  /** Sends a signal and waits for the exit code. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.command.child.kill(signal);
    return (await this.command.ended).code;
  }
}
