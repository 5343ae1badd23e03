import { instantAt, startOfDay } from '../zone/day-bounds.ts';
import { dayAfterDays, daysBetween, firstOfMonth, localDay } from '../zone/local-days.ts';

const dayMs = 86_400_000;

/** The last months, oldest first, as in the summary: `2026-03`; the last one is that of `now`. */
export const lastMonths = (now: Date, count: number): string[] =>
  Array.from({ length: count }, (_, index) => firstOfMonth(localDay(now.getTime()), index - count + 1).slice(0, 7));

/** The last whole days, oldest first; the last one is yesterday. */
export const lastDays = (now: Date, count: number): string[] =>
  Array.from({ length: count }, (_, index) => dayAfterDays(localDay(now.getTime()), index - count));

/** The days until some days from now: both today and the last one are days in part. */
export const nextDays = (now: Date, count: number): string[] =>
  Array.from({ length: daysBetween(now.getTime(), now.getTime() + count * dayMs) + 1 }, (_, index) =>
    dayAfterDays(localDay(now.getTime()), index),
  );

/** The instant at which a month or a day begins, or the one after it. */
const startOf = (period: string, after: 0 | 1): string =>
  startOfDay(period.length === 7 ? firstOfMonth(period, after) : dayAfterDays(period, after));

/** Filters for the subscriptions created in adjacent months or days. */
export const createdBounds = (periods: readonly string[]) => ({
  'created-from': startOf(periods[0] ?? '', 0),
  'created-to': startOf(periods.at(-1) ?? '', 1),
});

/** Filters as those of `expires-within`: the bounds exclude `from`, and include `to`. */
const endBounds = (from: number, to: number) =>
  ({ 'date-field': 'expiration', after: instantAt(from), before: instantAt(to + 1000) }) as const;

export type EndBounds = ReturnType<typeof endBounds>;

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
