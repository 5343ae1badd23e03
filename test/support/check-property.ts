import fc from 'fast-check';
import { isWhole } from './draw.ts';

/** How often a property is run. */
interface Runs {
  /** Minimum, even on a slow machine. */
  readonly least: number;
  /** Maximum. */
  readonly most: number;
}

/** After this time in milliseconds, only the minimum is run. */
const enoughMs = isWhole ? 5_000 : 300;

/**
 * Checks a property in rounds of `least` runs, until `most` runs are done or some time has
 * passed. A failure shows its seed. (fast-check's own limit would leave a run unfinished.)
 */
export async function checkProperty<T>(property: fc.IAsyncPropertyWithHooks<T>, { least, most }: Runs): Promise<void> {
  const endsAt = performance.now() + enoughMs;
  for (let runs = 0; runs === 0 || (runs < most && performance.now() < endsAt); runs += least)
    await fc.assert(property, { numRuns: least });
}
