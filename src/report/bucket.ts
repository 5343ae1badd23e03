import type { SummaryGroup } from '../contract/summary.ts';

/** What time is cut into. */
type BucketUnit = 'day' | 'month';

/** The finest unit that is asked for. */
export const bucketUnit = (by: readonly SummaryGroup[]): BucketUnit | undefined =>
  (['day', 'month'] as const).find((unit) => by.includes(unit));

/** Length of a day: UTC has no others. */
export const daySeconds = 86_400;

/**
 * Gives the UTC epoch second that the day or month of a second begins at.
 *
 * @example startOfBucket('month')(1714608001) // 1714521600, 2024-05-01T00:00:00Z
 */
export const startOfBucket =
  (unit: BucketUnit) =>
  (seconds: number): number =>
    unit === 'day' ? Math.floor(seconds / daySeconds) * daySeconds : monthStart(seconds, 0);

/** Gives the second that the day or month after one that begins at a second begins at. */
export const nextBucket =
  (unit: BucketUnit) =>
  (start: number): number =>
    unit === 'day' ? start + daySeconds : monthStart(start, 1);

/** Writes the day of a second as `2024-05-01`, its month as `2024-05`. */
export const formatBucket = (unit: BucketUnit, seconds: number): string =>
  new Date(seconds * 1000).toISOString().slice(0, unit === 'day' ? 10 : 7);

function monthStart(seconds: number, later: number): number {
  const date = new Date(seconds * 1000);
  const start = new Date(0);
  // Date.UTC would take the years 1 to 99 for 1901 to 1999
  start.setUTCFullYear(date.getUTCFullYear(), date.getUTCMonth() + later, 1);
  return start.getTime() / 1000;
}
