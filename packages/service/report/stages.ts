/** Stages with their milliseconds, in the order in which they ended. */
export type Timings = readonly (readonly [stage: string, ms: number])[];

export interface StageTimer {
  /** Runs a stage; it ends with its result or, if that is a promise, when it settles. */
  run<T>(stage: string, work: () => T): T;
  readonly timings: Timings;
}

/** Makes a timer for the header `Server-Timing`. */
export function createStages(): StageTimer {
  const timings: [string, number][] = [];
  return {
    run(stage, work) {
      const began = performance.now();
      const end = (): void => {
        timings.push([stage, performance.now() - began]);
      };
      const result = work();
      if (result instanceof Promise) result.then(end, end);
      else end();
      return result;
    },
    timings,
  };
}
