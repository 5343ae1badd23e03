import { ConnectionError, SubreportError, TimeoutError } from './error.ts';

const firstWaitMs = 250;

/** A longer `Retry-After` is reported to the caller. The service's limits are per minute. */
const waitMsMax = 60_000;

/**
 * Delay before a failed request is retried: `Retry-After`, or exponential backoff with full jitter.
 * Returns `undefined` if a retry does not help.
 */
export function retryDelayMs(error: unknown, attempt: number): number | undefined {
  if (!isTransient(error)) return undefined;
  const { retryAfterMs } = error as { retryAfterMs?: number };
  if (retryAfterMs !== undefined) return retryAfterMs <= waitMsMax ? retryAfterMs : undefined;
  return Math.random() * Math.min(waitMsMax, firstWaitMs * 2 ** attempt);
}

/** Whether the same request may succeed later: lost connections, timeouts, 408, 429 and 5xx. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return error.code !== 'HEADERS_OVERFLOW';
  const { status = 0 } = error instanceof SubreportError ? (error as { status?: number }) : {};
  return status >= 500 || status === 429 || status === 408;
}
