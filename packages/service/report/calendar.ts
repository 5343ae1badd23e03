import { type CalendarUnit, endOfUnit, offsetsBetween } from '../../contract/local-time.ts';
import { findZone } from '../../contract/zone.ts';
import type { Calendar, KnownOffsets } from '../storage/calendar.ts';

/** Units of time that a summary counts by. */
export type BucketUnit = 'day' | 'month';

export const daySeconds = 86_400;

/** Days and months as on a clock in UTC. */
export const units: Readonly<Record<BucketUnit, CalendarUnit>> = {
  day: { startOf: (local) => Math.floor(local / daySeconds) * daySeconds, next: (start) => start + daySeconds },
  month: { startOf: (local) => monthStart(local, 0), next: (start) => monthStart(start, 1) },
};

function monthStart(local: number, later: number): number {
  const date = new Date(local * 1000);
  const start = new Date(0);
  // Date.UTC would read the years 1 to 99 as 1901 to 1999
  start.setUTCFullYear(date.getUTCFullYear(), date.getUTCMonth() + later, 1);
  return start.getTime() / 1000;
}

/** Formats the start of a day as `2024-05-01`, of a month as `2024-05`. */
export const formatBucket = (unit: BucketUnit, start: number): string =>
  new Date(start * 1000).toISOString().slice(0, unit === 'day' ? 10 : 7);

/** The instants whose offsets statements need, in UTC epoch seconds. */
interface Period {
  readonly from: number;
  readonly until: number;
}

const offsetsOfUtc: KnownOffsets = {
  from: Number.NEGATIVE_INFINITY,
  until: Number.POSITIVE_INFINITY,
  offsets: [{ until: Number.POSITIVE_INFINITY, offset: 0 }],
};

/** The last second of 9999, in whose day and month a zone ahead of UTC counts all later ones. */
const lastLocal = 253_402_300_799;

/** Returns the days or months of a zone, or of UTC without its name. */
export function calendarOf(unit: BucketUnit, zoneName: string | undefined, { from, until }: Period): Calendar {
  const { startOf, next } = units[unit];
  const zone = zoneName === undefined ? undefined : findZone(zoneName);
  if (zone === undefined) return { startOf, endOf: (seconds) => next(startOf(seconds)), offsets: () => offsetsOfUtc };
  return {
    startOf: (seconds) => startOf(Math.min(seconds + zone.offsetAt(seconds), lastLocal)),
    endOf: (seconds) => endOfUnit(zone, { startOf, next }, seconds),
    offsets: () => ({ from, until, offsets: offsetsBetween(zone, from, until) }),
  };
}

/** The longest period whose offsets a statement has, half of it before the present. */
const periodSeconds = 20 * 366 * daySeconds;

/** The period within bounds of a date, without more offsets than a statement can have. */
export function periodWithin(after: number | undefined, before: number | undefined, nowSeconds: number): Period {
  const latest = before ?? nowSeconds + periodSeconds / 2;
  const from = after ?? Math.min(nowSeconds, latest) - periodSeconds / 2;
  return { from, until: Math.min(latest, from + periodSeconds) };
}
