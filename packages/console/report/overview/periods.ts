import { instantAt, startOfDay } from '../zone/day-bounds.ts';
import { dayAfterDays, firstOfMonth, localDay } from '../zone/local-days.ts';

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

/** The following days. The first one is today, and begins at `now`. */
export function nextDays(now: Date, count: number): Period[] {
  const today = localDay(now.getTime());
  return Array.from({ length: count }, (_, index) => {
    const day = dayPeriod(dayAfterDays(today, index));
    return index === 0 ? { ...day, from: instantAt(now.getTime()) } : day;
  });
}

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
  /** Excludes its own second. */
  readonly after: string;
  readonly before: string;
}

/** Filters for the subscriptions that end in adjacent periods. */
export const endBounds = (periods: readonly Period[]): EndBounds => ({
  'date-field': 'expiration',
  after: instantAt(Date.parse(periods[0]?.from ?? '') - 1000),
  before: periods.at(-1)?.to ?? '',
});

/** Filters for the subscriptions that ended within a number of days until now. */
export const lastDaysToNow = (now: Date, days: number): EndBounds => ({
  'date-field': 'expiration',
  after: instantAt(now.getTime() - days * dayMs),
  before: instantAt(now.getTime()),
});

/**
 * Filters for the subscriptions that end within a number of days from now. The past has no now of
 * its own: there the days have instants as bounds.
 */
export const endsWithin = (
  now: Date,
  days: number,
  isPast: boolean,
): EndBounds | { readonly 'expires-within': string } =>
  isPast
    ? {
        'date-field': 'expiration',
        after: instantAt(now.getTime()),
        before: instantAt(now.getTime() + days * dayMs + 1000), // excludes its own second
      }
    : { 'expires-within': `${days}d` };
