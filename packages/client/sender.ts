import { isOnThisMachine } from '../contract/secure-url.ts';
import type { Clock } from './clock.ts';
import { Deadline } from './deadline.ts';
import type { ErrorContext } from './error.ts';
import type { CallOptions, RequestEvent, RequestOptions } from './options.ts';
import { type ReadRejection, redirectError } from './read-response.ts';
import { retryDelayMs } from './retry-delay.ts';

/** How long a call may take, without the option `timeoutMs`. */
export const timeoutMsDefault = 30_000;

/** An attempt of a request. */
export interface Attempt extends ErrorContext {
  /** When it was sent, on the clock of `now`. */
  readonly sentAt: number;
  /** Its time limit, also for a body that is read later. */
  readonly deadline: Deadline;
}

/** An idempotent request, which may be retried. */
export interface SafeRequest<T> {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A body makes it a POST. */
  readonly body?: string | undefined;
  /** Reads a successful response. */
  readonly read: (response: Response, attempt: Attempt) => Promise<T>;
  readonly readRejection: ReadRejection;
}

/** Sends requests with a time limit, and retries failed ones. */
export class Sender {
  readonly #options: RequestOptions;
  readonly #clock: Clock;

  constructor(options: RequestOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** The correlation id of a call: that of the call, that of the client, or a random one. */
  correlationIdOf(call: CallOptions): string {
    const { correlationId: given } = this.#options;
    return call.correlationId ?? (typeof given === 'function' ? given() : given) ?? randomId();
  }

  /** Sends a request; rejects with a `SubreportError` or the reason of the signal. */
  async send<T>(request: SafeRequest<T>, { signal, correlationId = randomId() }: CallOptions): Promise<T> {
    requireSecureUrl(request.url, this.#options.allowHttp);
    for (let attempt = 1; ; attempt += 1) {
      const event: RequestEvent = { method: methodOf(request), url: request.url, correlationId, attempt };
      try {
        signal?.throwIfAborted();
        return await this.#attempt(request, event, signal);
      } catch (error) {
        const waitMs = attempt < (this.#options.attempts ?? 3) ? retryDelayMs(error, attempt) : undefined;
        if (waitMs === undefined) throw error;
        this.#options.onRetry?.({ ...event, error: error as Error, waitMs });
        await this.#clock.sleep(waitMs, signal);
      }
    }
  }

  async #attempt<T>(request: SafeRequest<T>, event: RequestEvent, signal: AbortSignal | undefined): Promise<T> {
    const { url, body } = request;
    const { fetch: fetchIt = fetch, timeoutMs = timeoutMsDefault, userAgent, onRequest, onResponse } = this.#options;
    const context: ErrorContext = { correlationId: event.correlationId, attempts: event.attempt };
    const deadline = new Deadline(timeoutMs, signal, url, context);
    const headers = {
      ...request.headers,
      'x-correlation-id': event.correlationId,
      ...(userAgent !== undefined && { 'user-agent': userAgent }),
    };
    const init: RequestInit = {
      method: event.method,
      headers,
      body: body ?? null,
      signal: deadline.signal,
      redirect: 'manual', // 'error' would look like a network failure
      credentials: 'omit', // prevents browsers from showing a password prompt for a Basic challenge
    };
    onRequest?.(event);
    const sentAt = this.#clock.now();
    const response = await deadline.guard(() => fetchIt(url, init));
    const { status, headers: received } = response;
    onResponse?.({ ...event, status, headers: received, durationMs: this.#clock.now() - sentAt });
    if (response.ok) return deadline.guard(() => request.read(response, { ...context, sentAt, deadline }));
    const redirected = response.type === 'opaqueredirect' || (status >= 300 && status < 400);
    if (redirected) throw redirectError(url, response, context);
    throw await deadline.guard(() => request.readRejection(response, context));
  }
}

const methodOf = ({ body }: { body?: string | undefined }): 'GET' | 'POST' => (body === undefined ? 'GET' : 'POST');

/** 32 hexadecimal digits. `crypto.randomUUID` is missing in pages that were loaded over http. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Throws `TypeError` unless a URL protects the secrets that are sent to it: https, or http on this
 * machine (RFC 8414 §6.1, RFC 8252 §8.3).
 */
export function requireSecureUrl(text: string, allowHttp = false): void {
  if (!URL.canParse(text))
    throw new TypeError(
      `Cannot use a URL: it must be one such as https://reports.example.com: current value is '${text}'`,
    );
  const { protocol, host, username, password } = new URL(text);
  const isHttpAllowed = allowHttp || isOnThisMachine(text);
  if (username + password === '' && (protocol === 'https:' || (protocol === 'http:' && isHttpAllowed))) return;
  throw new TypeError(
    `Cannot send secrets to a URL: it must be https without a user name, or http on this machine (allowHttp permits http elsewhere): current value is '${protocol}//${host}'`,
  );
}
