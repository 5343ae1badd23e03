import { createFailureBudget, type FailureBudget } from '../auth/failure-budget.ts';
import { createWindowCounter } from '../auth/window-counter.ts';
import { type RequestCounter, windowSeconds } from '../http/listener/rate-limit.ts';
import type { Config } from './config.ts';

/** Counters of the limits, in this process or in the first process for all workers. */
export interface Counters {
  readonly failures: FailureBudget;
  readonly requests: RequestCounter;
}

/** Creates the counters for the settings, in this process. */
export function createCounters({ TOKEN_FAILURES_PER_MINUTE }: Config): Counters {
  return {
    failures: createFailureBudget(TOKEN_FAILURES_PER_MINUTE),
    requests: createWindowCounter(windowSeconds * 1000),
  };
}
