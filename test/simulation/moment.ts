import type { State } from './model.ts';
import type { Random } from './random.ts';

/** A moment at which nothing ran. */
export interface Moment {
  readonly revision: number;
  /** A change token of then. */
  readonly token: string;
  /**
   * The first second after the change, in UTC epoch seconds; absent if another change was committed
   * before it.
   */
  seconds: number | undefined;
  readonly state: State;
  /** Digests of the responses to `keptPaths`. */
  readonly digests: readonly string[];
  /** Ids of its records that have been erased since. */
  readonly erased: Set<string>;
  /** Whether its versions or tombstones may have been swept. */
  mayBeSwept: boolean;
}

/** The records of a moment that have not been erased. */
export const leftOf = ({ state, erased }: Moment): State => new Map([...state].filter(([id]) => !erased.has(id)));

/** A moment as a parameter: its revision or its instant. */
export const nameOf = (moment: Moment, random: Random): string => instantOf(moment, random) ?? String(moment.revision);

/** Its instant, sometimes; absent if it has none that has come. */
export function instantOf({ seconds }: Moment, random: Random): string | undefined {
  const ms = (seconds ?? Number.POSITIVE_INFINITY) * 1000 + random.pick([0, 500]);
  return random.chance(0.5) && ms <= Date.now() ? new Date(ms).toISOString() : undefined;
}
