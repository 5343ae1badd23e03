import type { Stage } from './stage.ts';

/** What a drill needs that a machine may lack. */
export type Need = 'Linux' | 'tmpfs' | 'libfaketime' | 'Prometheus' | 'control groups';

/** A fault that is planted on a real service, and what is expected then. */
export interface ScriptedDrill {
  readonly name: string;
  readonly fault: string;
  readonly expected: string;
  readonly needs?: readonly Need[];
  /** Whether CI runs it as a test: it takes at most two seconds of CPU time. */
  readonly isShort?: boolean;
  /** Plants the fault and returns what was observed, in the words of `expected`. */
  run(stage: Stage): Promise<string>;
}

/** A fault that tests plant already. */
export interface TestedDrill {
  readonly name: string;
  readonly fault: string;
  /** Its path in the repository. */
  readonly file: string;
  /** A part of the titles of its tests, or of their suite. */
  readonly test: string;
}

export type Drill = ScriptedDrill | TestedDrill;

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
