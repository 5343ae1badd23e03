import { FairQueue, type FairQueueLimits } from '../http/listener/fair-queue.ts';
import { createRateLimiter, type RateLimiter, type RequestCounter } from '../http/listener/rate-limit.ts';
import type { MeasureRefusals } from '../metrics/overload-metrics.ts';
import type { Config } from './config.ts';

/** What protects the public listener from too many requests. */
interface Protection {
  readonly limiter: RateLimiter;
  readonly queue: FairQueue;
}

/** Creates the rate limit and the queue of a process for the settings. */
export function createProtection(
  config: Config,
  requests: RequestCounter,
  refused: MeasureRefusals['refused'],
): Protection {
  return {
    limiter: createRateLimiter({
      perMinute: config.RATE_LIMIT_PER_MINUTE,
      requests,
      onRefused: () => refused('rate_limit'),
    }),
    queue: new FairQueue(queueLimits(config), { onRefused: () => refused('overload') }),
  };
}

/**
 * Requests that run at once, with SQLite: short reads run one after another on the main thread, and
 * longer ones wait for a reader thread, so more would only use memory.
 */
const runningOnSqliteMax = 16;

/** With PostgreSQL, each request that runs has a connection. */
const queueLimits = (config: Config): FairQueueLimits => ({
  runningMax: config.DATABASE_URL === undefined ? runningOnSqliteMax : config.DATABASE_POOL_SIZE,
  waitingMax: config.REQUESTS_WAITING_MAX,
  // a request that starts still has half of its time
  waitMsMax: (config.REQUEST_SECONDS_MAX * 1000) / 2,
});
