/** Milliseconds by stage, in their order. */
export type Timings = Readonly<Record<string, number>>;

/** Measures the stages of an operation, each from the end of the one before it. */
interface StageTimer {
  end(stage: string): void;
  readonly timings: Timings;
}

/** Starts measuring the first stage. */
export function startStages(): StageTimer {
  const timings: Record<string, number> = {};
  let began = performance.now();
  return {
    end(stage) {
      const now = performance.now();
      timings[stage] = now - began;
      began = now;
    },
    timings,
  };
}
