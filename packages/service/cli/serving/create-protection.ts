import { FairQueue, type FairQueueLimits } from '../../http/listener/fair-queue.ts';
import { createRateLimiter, type RequestCounter } from '../../http/listener/rate-limit.ts';
import { createMemoryBudget, type ExportLimits } from '../../http/listener/slots.ts';
import type { RequestMetrics } from '../../metrics/request-metrics.ts';
import type { Store } from '../../storage/store.ts';
import type { Config } from '../config.ts';
import { planMemory } from './plan-memory.ts';

/**
 * Creates what protects a process from too many requests, and from those that need too much memory,
 * for the settings.
 */
export function createProtection(
  config: Config,
  store: Store,
  requests: RequestCounter,
  refused: RequestMetrics['refused'],
) {
  return {
    // the other half of the heap is for requests, other memories and garbage
    memory: createMemoryBudget((planMemory(config, 1).heapMib * mib) / 2),
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

const mib = 1_048_576;

/**
 * Short reads run one after another on the main thread, and longer ones wait for a reader thread,
 * so more requests at once would only use memory. A turn of the event loop also runs the statements
 * of the requests that start in it, and may take 20 ms.
 */
const onSqlite = { runningMax: 16, startsPerTurn: 4 };

/** Each request that runs may have a connection. */
const onPostgres = ({ DATABASE_POOL_SIZE }: Config) => ({ runningMax: DATABASE_POOL_SIZE, startsPerTurn: 8 });

const queueLimits = (config: Config): FairQueueLimits => ({
  ...(config.DATABASE_URL === undefined ? onSqlite : onPostgres(config)),
  waitingMax: config.fixed.requestsWaitingMax,
  // a request that starts still has half of its time
  waitMsMax: (config.REQUEST_SECONDS_MAX * 1000) / 2,
});

/** A client gets half of the exports and a tenant three quarters, so that others get one too. */
export const exportLimits = ({ EXPORTS_MAX: max, fixed }: Config): ExportLimits => ({
  max,
  perClientMax: Math.ceil(max / 2),
  perTenantMax: Math.ceil((max * 3) / 4),
  stallMs: fixed.exportStallSeconds * 1000,
  durationMs: fixed.exportSecondsMax * 1000,
  rateMin: fixed.exportRateMinKib * 1024,
});
