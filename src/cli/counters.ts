import { createFailureBudget, type FailureBudget } from '../auth/failure-budget.ts';
import { windowSeconds } from '../http/rate-limit.ts';
import { createRequestCounter, type RequestCounter } from '../http/request-counter.ts';
import type { Config } from './config.ts';
import { nowSeconds } from './store-session.ts';

/** What is counted so that limits hold: kept in this process, or by the first process for all its workers. */
export interface Counters {
  readonly failures: FailureBudget;
  readonly requests: RequestCounter;
}

/** Makes the counters that the settings ask for, in this process. */
export function createCounters({ TOKEN_FAILURES_PER_MINUTE }: Config): Counters {
  return {
    failures: createFailureBudget(TOKEN_FAILURES_PER_MINUTE, nowSeconds),
    requests: createRequestCounter(windowSeconds * 1000),
  };
}
