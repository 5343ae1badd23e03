/** A calendar month or day in UTC. */
export interface Period {
  /** As in the summary: `2026-03` or `2026-03-01`. */
  readonly value: string;
  /** The instant at which it begins. */
  readonly from: string;
  /** The instant at which the following one begins. */
  readonly to: string;
}

const dayMs = 86_400_000;

/** The last months in UTC, oldest first; the last one is the month of `now`. */
export function lastMonths(now: Date, count: number): Period[] {
  const month = (offset: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1);
  return Array.from({ length: count }, (_, index) => {
    const offset = index - count + 1;
    return periodOf(month(offset), month(offset + 1), 7);
  });
}

/** The last whole days in UTC, oldest first; the last one is yesterday. */
export function lastDays(now: Date, count: number): Period[] {
  const today = startOfDay(now);
  return Array.from({ length: count }, (_, index) => {
    const from = today + (index - count) * dayMs;
    return periodOf(from, from + dayMs, 10);
  });
}

/** The following days in UTC. The first one is today, and begins at `now`. */
export function nextDays(now: Date, count: number): Period[] {
  const today = startOfDay(now);
  return Array.from({ length: count }, (_, index) => {
    const day = periodOf(today + index * dayMs, today + (index + 1) * dayMs, 10);
    return index === 0 ? { ...day, from: instantOf(now.getTime()) } : day;
  });
}

const startOfDay = (now: Date): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());

const periodOf = (from: number, to: number, nameLength: number): Period => ({
  value: instantOf(from).slice(0, nameLength),
  from: instantOf(from),
  to: instantOf(to),
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
  after: instantOf(Date.parse(periods[0]?.from ?? '') - 1000),
  before: periods.at(-1)?.to ?? '',
});

/** Filters for the subscriptions that ended within a number of days until now. */
export const lastDaysToNow = (now: Date, days: number): EndBounds => ({
  'date-field': 'expiration',
  after: instantOf(now.getTime() - days * dayMs),
  before: instantOf(now.getTime()),
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
        after: instantOf(now.getTime()),
        before: instantOf(now.getTime() + days * dayMs + 1000), // excludes its own second
      }
    : { 'expires-within': `${days}d` };

/** In whole seconds, which is what the service stores. */
const instantOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
