import fc from 'fast-check';

/** How often a property is run. */
interface Runs {
  /** At least, also on a slow machine. */
  readonly least: number;
  /** At most. */
  readonly most: number;
}

/** Time after which a property is not run any more often than it must be, in milliseconds. */
const enoughMs = 4_000;

/**
 * Checks a property in rounds of `least` runs, until there have been `most` or four seconds have
 * passed. A failure names its seed. (fast-check's own limit would leave a run behind unfinished.)
 */
export async function checkProperty<T>(property: fc.IAsyncPropertyWithHooks<T>, { least, most }: Runs): Promise<void> {
  const endsAt = performance.now() + enoughMs;
  for (let runs = 0; runs === 0 || (runs < most && performance.now() < endsAt); runs += least)
    await fc.assert(property, { numRuns: least });
}
