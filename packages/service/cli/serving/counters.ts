import { createFailureBudget, type FailureBudget } from '../../auth/failure-budget.ts';
import { createWindowCounter, type WindowCounter } from '../../auth/window-counter.ts';
import { type RequestCounter, windowSeconds } from '../../http/listener/rate-limit.ts';
import type { Config } from '../config.ts';

/** Counters of the limits, in this process or in the first process for all workers. */
export interface Counters {
  readonly failures: FailureBudget;
  readonly requests: RequestCounter;
}

export interface OwnCounters extends Counters {
  readonly windows: WindowCounter;
}

/** Creates the counters for the limits, in this process. */
export function createCounters({ fixed }: Config): OwnCounters {
  const windows = createWindowCounter(windowSeconds * 1000);
  return {
    failures: createFailureBudget(fixed.tokenFailuresPerMinute),
    requests: { add: (key) => windows.add(key) },
    windows,
  };
}
