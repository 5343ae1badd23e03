import { setTimeout as sleep } from 'node:timers/promises';
import { SubreportError } from '../../client/error.ts';
import { outgoingFetch } from '../../terminal/outgoing/fetch.ts';
import { printable } from '../../terminal/printable.ts';

/** A complete response. */
export interface Exchange {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; `undefined` if it is not JSON. */
  readonly json: unknown;
  readonly isEmpty: boolean;
  readonly isUtf8: boolean;
}

/** The server to check, and the credentials of a client. */
interface Target {
  /** Base URL of the API, including `/connect-api`. */
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** How requests are sent. */
interface RequestLimits {
  readonly requestsMax: number;
  readonly userAgent?: string;
  readonly signal?: AbortSignal;
}

/** The server cannot be checked at all. The message is for the user. */
export class ConformError extends Error {
  override readonly name = 'ConformError';
}

/** The requests of `requestsMax` are spent. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError';
}

/** Bytes of a body that are read: 1,000 records have some 500,000. */
const bodyBytesMax = 8 * 1024 * 1024;
const timeoutMs = 30_000;
export const checkBounds = { bodyBytesMax, timeoutMs } as const;
/** The longest pause that a server may ask for with `Retry-After`. */
const pauseSecondsMax = 60;
const attemptsMax = 3;

/**
 * Sends requests one after another, without the client library, which hides what is to be checked.
 * Counts them, limits time and size of the responses, follows no redirect, and waits when the
 * server asks for it.
 */
export class Requester {
  readonly target: Target;
  readonly #limits: RequestLimits;
  requests = 0;
  /** Headers of every GET request: those that the server demands. */
  demanded: Readonly<Record<string, string>> = {};

  constructor(target: Target, limits: RequestLimits) {
    this.target = target;
    this.#limits = limits;
  }

  get requestsMax(): number {
    return this.#limits.requestsMax;
  }

  /** Sends a form to the token endpoint. `undefined` leaves out a field. */
  postToken(fields: Readonly<Record<string, string | undefined>>, contentType = formType): Promise<Exchange> {
    const { tokenUrl, clientId, clientSecret } = this.target;
    const all = { client_id: clientId, client_secret: clientSecret, ...fields };
    const given = Object.entries(all).filter((field): field is [string, string] => field[1] !== undefined);
    const body = new URLSearchParams(given).toString();
    return this.#send(tokenUrl, { method: 'POST', headers: { 'content-type': contentType }, body });
  }

  /** Reads a path below the base URL, or a URL, with an access token unless it is `undefined`. */
  get(path: string, token: string | undefined, headers: Readonly<Record<string, string>> = {}): Promise<Exchange> {
    const url = path.startsWith('/') ? this.target.baseUrl + path : path;
    return this.#send(url, {
      headers: { ...this.demanded, ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    });
  }

  async #send(url: string, init: RequestInit & { headers: Record<string, string> }): Promise<Exchange> {
    for (let attempt = 1; ; attempt += 1) {
      if (this.requests >= this.#limits.requestsMax) throw new BudgetError('the requests are spent');
      this.requests += 1;
      const exchange = await this.#exchange(url, init);
      const pauseSeconds = Number(exchange.headers.get('retry-after') ?? '1');
      const isBusy = exchange.status === 429 || (exchange.status === 503 && exchange.headers.has('retry-after'));
      if (!isBusy || attempt === attemptsMax || !(pauseSeconds <= pauseSecondsMax)) return exchange;
      await sleep(pauseSeconds * 1000, undefined, { signal: this.#limits.signal });
    }
  }

  async #exchange(url: string, init: RequestInit & { headers: Record<string, string> }): Promise<Exchange> {
    const { userAgent, signal } = this.#limits;
    const headers = { ...init.headers, ...(userAgent !== undefined && { 'user-agent': userAgent }) };
    const deadline = AbortSignal.timeout(timeoutMs);
    const either = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
    try {
      const response = await outgoingFetch(url, { ...init, headers, redirect: 'manual', signal: either });
      const bytes = await readBounded(response, url);
      return { status: response.status, headers: response.headers, ...parse(bytes), isEmpty: bytes.length === 0 };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ConformError) throw error;
      throw unreachable(url, error as Error);
    }
  }
}

const formType = 'application/x-www-form-urlencoded';

async function readBounded(response: Response, url: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > bodyBytesMax)
      throw new ConformError(
        `Cannot check the server: a response must have at most ${bodyBytesMax / 1024 / 1024} MiB: that of ${placeOf(url)} has more`,
      );
  }
  return Buffer.concat(chunks);
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

function parse(bytes: Uint8Array): { json: unknown; isUtf8: boolean } {
  const isUtf8 = canDecode(bytes);
  try {
    return { json: JSON.parse(new TextDecoder().decode(bytes)), isUtf8 };
  } catch {
    return { json: undefined, isUtf8 };
  }
}

function canDecode(bytes: Uint8Array): boolean {
  try {
    strictUtf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function unreachable(url: string, error: Error): ConformError {
  const { cause } = error;
  // an error of ours says more than its cause, such as the proxy
  const isCause = cause instanceof Error && cause.message !== '' && !(error instanceof SubreportError);
  const { message } = isCause ? cause : error;
  return new ConformError(`Cannot check the server: ${placeOf(url)} must respond completely: ${printable(message)}`);
}

/** A URL without its query, which may name a person or a SIM. */
export const placeOf = (url: string): string => url.replace(/[?#].*$/s, '');

/** The beginning of what a server sent: a secret in it is masked before it is cut. */
export const cut = (text: string, length: number): string => printable(text).slice(0, length);
