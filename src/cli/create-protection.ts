import { FairQueue, type FairQueueLimits } from '../http/listener/fair-queue.ts';
import { createRateLimiter, type RateLimiter, type RequestCounter } from '../http/listener/rate-limit.ts';
import type { MeasureRefusals } from '../metrics/overload-metrics.ts';
import type { Store } from '../storage/store.ts';
import type { Config } from './config.ts';

/** What protects the public listener from too many requests. */
export interface Protection {
  readonly limiter: RateLimiter;
  readonly queue: FairQueue;
}

/** Creates the rate limit and the queue of a process for the settings. */
export function createProtection(
  config: Config,
  store: Store,
  requests: RequestCounter,
  refused: MeasureRefusals['refused'],
): Protection {
  return {
    limiter: createRateLimiter({
      perMinute: config.RATE_LIMIT_PER_MINUTE,
      requests,
      onRefused: () => refused('rate_limit'),
    }),
    queue: new FairQueue(queueLimits(config), {
      onRefused: () => refused('overload'),
      isHanging: (tenant) => store.isHanging?.(tenant) === true,
    }),
  };
}

/**
 * Short reads run one after another on the main thread, and longer ones wait for a reader thread,
 * so more requests at once would only use memory. A turn of the event loop also runs the statements
 * of the requests that start in it, and may take 20 ms.
 */
const onSqlite = { runningMax: 16, startsPerTurn: 4 };

/** Each request that runs may have a connection; those that start in one turn share one. */
const onPostgres = ({ DATABASE_POOL_SIZE }: Config) => ({ runningMax: DATABASE_POOL_SIZE, startsPerTurn: 8 });

const queueLimits = (config: Config): FairQueueLimits => ({
  ...(config.DATABASE_URL === undefined ? onSqlite : onPostgres(config)),
  waitingMax: config.REQUESTS_WAITING_MAX,
  // a request that starts still has half of its time
  waitMsMax: (config.REQUEST_SECONDS_MAX * 1000) / 2,
});
