import { instantAt, startOfDay } from '../zone/day-bounds.ts';
import { dayAfterDays, daysBetween, firstOfMonth, localDay } from '../zone/local-days.ts';

/** A calendar month or day of the pages' time zone. */
export interface Period {
  /** As in the summary: `2026-03` or `2026-03-01`. */
  readonly value: string;
  /** The instant at which it begins. */
  readonly from: string;
  /** The instant at which the following one begins. */
  readonly to: string;
}

const dayMs = 86_400_000;

/** The last months, oldest first; the last one is the month of `now`. */
export function lastMonths(now: Date, count: number): Period[] {
  const month = (offset: number) => firstOfMonth(localDay(now.getTime()), offset);
  return Array.from({ length: count }, (_, index) => {
    const offset = index - count + 1;
    return periodOf(month(offset), month(offset + 1), 7);
  });
}

/** The last whole days, oldest first; the last one is yesterday. */
export function lastDays(now: Date, count: number): Period[] {
  const today = localDay(now.getTime());
  return Array.from({ length: count }, (_, index) => dayPeriod(dayAfterDays(today, index - count)));
}

/** The days until some days from now: both today and the last one are days in part. */
export const nextDays = (now: Date, count: number): Period[] =>
  Array.from({ length: daysBetween(now.getTime(), now.getTime() + count * dayMs) + 1 }, (_, index) =>
    dayPeriod(dayAfterDays(localDay(now.getTime()), index)),
  );

const dayPeriod = (day: string): Period => periodOf(day, dayAfterDays(day, 1), 10);

const periodOf = (from: string, to: string, nameLength: number): Period => ({
  value: from.slice(0, nameLength),
  from: startOfDay(from),
  to: startOfDay(to),
});

/** Filters for the subscriptions created in adjacent periods. */
export const createdBounds = (periods: readonly Period[]) => ({
  'created-from': periods[0]?.from ?? '',
  'created-to': periods.at(-1)?.to ?? '',
});

/** Filters by the end of subscriptions. */
export interface EndBounds {
  readonly 'date-field': 'expiration';
  readonly after: string;
  readonly before: string;
}

/** Filters as those of `expires-within`: the bounds exclude `from`, and include `to`. */
const endBounds = (from: number, to: number): EndBounds => ({
  'date-field': 'expiration',
  after: instantAt(from),
  before: instantAt(to + 1000), // excludes its own second
});

/** Filters for the subscriptions that ended within a number of days until now. */
export const endedWithin = (now: Date, days: number): EndBounds =>
  endBounds(now.getTime() - days * dayMs, now.getTime());

export type EndFilters = EndBounds | { readonly 'expires-within': string };

/**
 * Filters for the subscriptions that end within a number of days from now. The past has no now of
 * its own: there the days have instants as bounds.
 */
export const endsWithin = (now: Date, days: number, isPast: boolean): EndFilters =>
  isPast ? endBounds(now.getTime(), now.getTime() + days * dayMs) : { 'expires-within': `${days}d` };
