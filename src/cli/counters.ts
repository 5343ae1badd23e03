import { createFailureBudget, type FailureBudget } from '../auth/failure-budget.ts';
import { createWindowCounter } from '../auth/window-counter.ts';
import { type RequestCounter, windowSeconds } from '../http/listener/rate-limit.ts';
import type { Config } from './config.ts';

/**
 * What is counted so that limits hold: kept in this process, or by the first process for all its
 * workers.
 */
export interface Counters {
  readonly failures: FailureBudget;
  readonly requests: RequestCounter;
}

/** Makes the counters that the settings ask for, in this process. */
export function createCounters({ TOKEN_FAILURES_PER_MINUTE }: Config): Counters {
  return {
    failures: createFailureBudget(TOKEN_FAILURES_PER_MINUTE),
    requests: createWindowCounter(windowSeconds * 1000),
  };
}
