import { ConnectionError } from './error.ts';

/** How requests are sent; tests and other runtimes give their own. */
export interface Transport {
  readonly fetch: typeof fetch;
  /** Longest wait for one answer, in milliseconds. */
  readonly timeoutMs: number;
  /** Tries in all, at least 1. */
  readonly triesMax: number;
  /** Waits so many milliseconds; fails when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

const retriedStatuses: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
const firstWaitMs = 250;
const waitMsMax = 30_000;

/**
 * Sends a request that may be repeated, and gives its answer. A lost connection and the statuses
 * 408, 429, 502, 503 and 504 are tried again, after `Retry-After` or a growing wait with full
 * jitter. Redirects are refused, as they would carry secrets elsewhere.
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
      credentials: 'omit', // a browser would ask its user for the password of a Basic challenge
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  } catch (failure) {
    signal?.throwIfAborted();
    return { failure };
  }
}

/** `Retry-After` in milliseconds: a number of seconds, or a date (RFC 9110 §10.2.3). */
function retryAfterMs(response: Response): number | undefined {
  const value = response.headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), waitMsMax);
}

/** Waits, unless the signal fires first. */
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
