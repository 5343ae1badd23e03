import type { Stage } from './stage.ts';

/** What a drill needs that a machine may lack. */
export type Need = 'Linux' | 'tmpfs' | 'libfaketime' | 'Prometheus' | 'control groups';

/** A fault that is planted on a real service, and what is expected then. */
export interface Drill {
  readonly name: string;
  readonly fault: string;
  readonly expected: string;
  readonly needs?: readonly Need[];
  /** Whether CI runs it as a test: it takes at most two seconds of CPU time. */
  readonly isShort?: boolean;
  /** Plants the fault and returns what was observed, in the words of `expected`. */
  run(stage: Stage): Promise<string>;
}

/** The result of a drill. */
export interface Outcome {
  readonly name: string;
  readonly fault: string;
  readonly expected: string;
  readonly observed: string;
  /** Commands of an operator with their output, if the drill has any. */
  readonly session?: string;
  readonly ok: 'yes' | 'NO' | 'NOT RUN';
}
