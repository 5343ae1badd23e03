import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionError, ExportError, RejectionError, TimeoutError } from '../../../client/index.ts';
import { SyncError } from './error.ts';
import { isDiskFault } from './sqlite-file.ts';

/** The time, and waiting for it; replaceable by tests. */
interface RunClock {
  /** Milliseconds that only grow. */
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<unknown>;
}

interface RetryOptions {
  /** How long after its first failure a run may be retried, in milliseconds. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Called before each wait. */
  readonly onWait: (error: unknown, waitMs: number) => void;
  readonly clock?: RunClock;
}

const systemClock: RunClock = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

/** The wait after the first failure, and the longest one, unless a response has `Retry-After`. */
const [waitMsMin, waitMsMax] = [1_000, 60_000];

/** Runs `work`, and retries it after temporary failures. Throws the last error. */
export async function retryRun<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { limitMs, signal, onWait, clock = systemClock } = options;
  let endsAt: number | undefined;
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      const now = clock.now();
      endsAt ??= now + limitMs;
      const waitMs = waitAfter(error, failures);
      if (signal.aborted || waitMs === undefined || now + waitMs > endsAt) throw error;
      onWait(error, waitMs);
      await clock.sleep(waitMs, signal);
    }
  }
}

/** Milliseconds until the next try, with jitter; `undefined` if there must be none. */
function waitAfter(error: unknown, failures: number): number | undefined {
  // the state file of a webhook has the times of its tries
  if (!isTemporary(error) || (error instanceof SyncError && error.code === 'DELIVERY_PENDING')) return undefined;
  const asked = error instanceof RejectionError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(asked, Math.min(waitMsMax, waitMsMin * 2 ** (failures - 1)) * (0.5 + Math.random() / 2));
}

/** Whether the same run may succeed later although nobody changes anything. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.code !== 'CERTIFICATE_REJECTED';
  if (error instanceof RejectionError) return error.status >= 500 || [408, 429].includes(error.status);
  if (error instanceof ExportError) return error.code === 'INCOMPLETE';
  if (error instanceof SyncError) return temporary.includes(error.code) && !isFull(error.cause);
  return error instanceof TimeoutError;
}

const temporary: readonly string[] = [
  ...['DESTINATION_BUSY', 'DESTINATION_FAILED', 'DELIVERY_PENDING', 'REVISION_GONE'],
];

/** A disk stays full until somebody makes room: its error, or the SQLSTATE of PostgreSQL. */
const isFull = (cause: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', '53100'].includes((cause as { code?: string } | undefined)?.code ?? '') || isDiskFault(cause);
