import { listRotations } from '../auth/rotate-due-keys.ts';
import { operations } from '../contract/operations.ts';
import { operatorOperations } from '../contract/operator-operations.ts';
import { operationNames } from '../http/listener/operation-names.ts';
import type { MeasureResponse } from '../metrics/request-metrics.ts';
import { createServiceMetrics, type ServiceMetrics } from '../metrics/service-metrics.ts';
import { memoryUse } from '../storage/memory-use.ts';
import type { Store } from '../storage/store.ts';
import { lastCheck } from './check-store.ts';
import { droppedLogLines } from './log-destination.ts';
import { nowSeconds } from './store-session.ts';

/** Longest that a scrape waits for the store, in milliseconds. */
const storeMsMax = 2_000;

/** The metrics of a process, and the observers of its two listeners. */
export interface OpenedMetrics {
  readonly metrics: ServiceMetrics;
  readonly observePublic: MeasureResponse;
  readonly observeManagement: MeasureResponse;
}

/** What is measured of a process that serves a store. */
interface MeasuredService {
  readonly store: Store;
  /** Days after which a key is rotated; 0 means never. */
  readonly rotationDays: number;
  readonly isDraining: () => boolean;
  /** Requests that wait for their turn. */
  readonly waiting: () => number;
}

/** Creates the metrics of a process that serves a store. */
export function openMetrics({ store, rotationDays, isDraining, waiting }: MeasuredService): OpenedMetrics {
  const withinScrape = () => store.within(performance.now() + storeMsMax);
  const metrics = createServiceMetrics({
    checkReady: async () => {
      if (isDraining()) throw new Error('the service is shutting down');
      await withinScrape().checkReady();
    },
    changeMarkAgeMs: () => store.changeMarkAgeMs(),
    readSize: () => withinScrape().readSize(),
    waiting,
    poolUse: () => store.poolUse?.(),
    observePoolWaits: (observe) => store.observePoolWaits?.(observe),
    keyRotations: () => listRotations({ store: withinScrape(), rotationDays, now: nowSeconds }),
    droppedLogLines,
    lastCheck,
    memoryUse,
  });
  return {
    metrics,
    observePublic: metrics.measureListener('public', operationNames(operations)),
    observeManagement: metrics.measureListener('management', operationNames(operatorOperations)),
  };
}
