import { ConnectionError } from './error.ts';

/** Transport of requests; replaceable for tests and other runtimes. */
export interface Transport {
  readonly fetch: typeof fetch;
  /** Timeout of each attempt in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum number of attempts, at least 1. */
  readonly triesMax: number;
  /** Waits for `ms` milliseconds; rejects when the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

const retriedStatuses: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
const firstWaitMs = 250;
const waitMsMax = 30_000;

/**
 * Sends an idempotent request and returns its response. Lost connections and the statuses 408, 429,
 * 502, 503 and 504 are retried, after `Retry-After` or with exponential backoff and full jitter.
 * Redirects are rejected, because they could send secrets elsewhere.
 */
export async function send(
  transport: Transport,
  url: string,
  init: RequestInit,
  signal?: AbortSignal,
): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const last = attempt >= transport.triesMax;
    const outcome = await sendOnce(transport, url, init, signal);
    if (outcome instanceof Response) {
      if (last || !retriedStatuses.has(outcome.status)) return outcome;
      await outcome.body?.cancel();
    } else if (last) {
      throw new ConnectionError(
        `Cannot reach ${new URL(url).origin}: it must respond within ${transport.timeoutMs} ms`,
        { cause: outcome.failure },
      );
    }
    const retryAfter = outcome instanceof Response ? retryAfterMs(outcome) : undefined;
    await transport.sleep(retryAfter ?? Math.random() * Math.min(waitMsMax, firstWaitMs * 2 ** attempt), signal);
  }
}

async function sendOnce(
  { fetch: fetchIt, timeoutMs }: Transport,
  url: string,
  init: RequestInit,
  signal?: AbortSignal,
): Promise<Response | { failure: unknown }> {
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await fetchIt(url, {
      ...init,
      redirect: 'error',
      credentials: 'omit', // prevents browsers from showing a password prompt for a Basic challenge
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  } catch (failure) {
    signal?.throwIfAborted();
    return { failure };
  }
}

/** Parses `Retry-After` to milliseconds: a number of seconds, or a date (RFC 9110 §10.2.3). */
function retryAfterMs(response: Response): number | undefined {
  const value = response.headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), waitMsMax);
}

/** Waits; rejects when the signal is aborted first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', aborted, { once: true });
    function done(): void {
      signal?.removeEventListener('abort', aborted);
      resolve();
    }
    function aborted(): void {
      clearTimeout(timer);
      reject(signal?.reason);
    }
  });
}
