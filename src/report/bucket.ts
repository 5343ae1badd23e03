import type { SummaryGroup } from '../contract/summary.ts';

/** Units of time that a summary counts by. */
type BucketUnit = 'day' | 'month';

/** Returns the finest unit that `by` names. */
export const bucketUnit = (by: readonly SummaryGroup[]): BucketUnit | undefined =>
  (['day', 'month'] as const).find((unit) => by.includes(unit));

/** Seconds in a UTC day. */
export const daySeconds = 86_400;

/**
 * Returns the start of the UTC day or month that contains a second, in epoch seconds.
 *
 * @example startOfBucket('month')(1714608001) // 1714521600, 2024-05-01T00:00:00Z
 */
export const startOfBucket =
  (unit: BucketUnit) =>
  (seconds: number): number =>
    unit === 'day' ? Math.floor(seconds / daySeconds) * daySeconds : monthStart(seconds, 0);

/** Returns the start of the following day or month, from the start of one. */
export const nextBucket =
  (unit: BucketUnit) =>
  (start: number): number =>
    unit === 'day' ? start + daySeconds : monthStart(start, 1);

/** Formats a day as `2024-05-01`, a month as `2024-05`. */
export const formatBucket = (unit: BucketUnit, seconds: number): string =>
  new Date(seconds * 1000).toISOString().slice(0, unit === 'day' ? 10 : 7);

function monthStart(seconds: number, later: number): number {
  const date = new Date(seconds * 1000);
  const start = new Date(0);
  // Date.UTC would read the years 1 to 99 as 1901 to 1999
  start.setUTCFullYear(date.getUTCFullYear(), date.getUTCMonth() + later, 1);
  return start.getTime() / 1000;
}
