import { inSpan } from '../tracing/span.ts';

/** Stages with their milliseconds, in the order in which they ended. */
export type Timings = readonly (readonly [stage: string, ms: number])[];

export interface StageTimer {
  /** Runs a stage; it ends with its result or, if that is a promise, when it settles. */
  run<T>(stage: string, work: () => T): T;
  readonly timings: Timings;
}

/** Makes a timer; each stage is also a span of the request's trace. */
export function createStages(): StageTimer {
  const timings: [string, number][] = [];
  return {
    run(stage, work) {
      const began = performance.now();
      const end = (): void => {
        timings.push([stage, performance.now() - began]);
      };
      const result = inSpan(stage, work);
      if (result instanceof Promise) result.then(end, end);
      else end();
      return result;
    },
    timings,
  };
}
