import type { SubreportClient, SubscriptionSummary, SummaryCount, SummaryQuery } from '../../../client/index.ts';
import { statusFilterOf } from '../../../contract/subscription.ts';
import { sumOf } from '../../charts/chart-data.ts';
import {
  createdBounds,
  type EndBounds,
  type EndFilters,
  endedWithin,
  endsWithin,
  lastDays,
  lastMonths,
  nextDays,
} from './periods.ts';

/** Reads counts, as the client library does. */
export type SummaryReader = Pick<SubreportClient, 'summary'>;

/** The number of months and of days that the charts show. */
export const monthsShown = 24;
export const daysShown = 60;

/** Number of statuses with a series of their own; the fifth series is the rest. */
const statusSeriesMax = 4;

/** Counts of everything, from one snapshot. */
export const readTotals = (reader: SummaryReader): Promise<SubscriptionSummary> =>
  reader.summary({ by: ['status', 'product-id', 'month'] });

/** Counts of what ends within 7 days of now, by whether it renews. */
export interface EndingSoon {
  readonly next: SubscriptionSummary;
  readonly nextFilters: EndFilters;
  /** What ended in the last 7 days, and the filters that select what did not renew. */
  readonly last: SubscriptionSummary;
  readonly lastFilters: EndBounds & { readonly 'auto-renew': 'false' };
}

/** What ends soon, and as much time ago. */
export async function readEndingSoon(reader: SummaryReader, now: Date, isPast: boolean): Promise<EndingSoon> {
  const bounds = endedWithin(now, 7);
  const nextFilters = endsWithin(now, 7, isPast);
  const [next, last] = await Promise.all([
    reader.summary({ ...nextFilters, by: 'auto-renew' }),
    reader.summary({ ...bounds, by: 'auto-renew' }),
  ]);
  return { next, nextFilters, last, lastFilters: { ...bounds, 'auto-renew': 'false' } };
}

/** The number of subscriptions created in a week of whole days, and in the week before it. */
export interface CreatedWeeks {
  readonly week: readonly string[];
  readonly last: number;
  readonly before: number;
}

/** The subscriptions created in the 7 days until yesterday, and in the 7 days before. */
export async function readCreatedWeeks(reader: SummaryReader, now: Date): Promise<CreatedWeeks> {
  const days = lastDays(now, 14);
  const { by } = await reader.summary({ ...createdBounds(days), by: 'day' });
  const sum = (periods: readonly string[]): number =>
    sumOf((by.day ?? []).map(({ value, count }) => (value !== null && periods.includes(value) ? count : 0)));
  const week = days.slice(7);
  return { week, last: sum(week), before: sum(days.slice(0, 7)) };
}

/** Length of the list "Next to end". */
export const nextEndsMax = 10;

/** Filters and order of the subscriptions that end next without renewal. */
export const nextEndsQuery = (now: Date, isPast: boolean) =>
  ({ ...endsWithin(now, daysShown, isPast), 'auto-renew': 'false', sort: 'expirationDate' }) as const;

/** Counts by period: of all subscriptions, and of those that each filter selects. */
export interface PeriodCounts<Key> {
  readonly periods: readonly string[];
  readonly all: readonly SummaryCount[];
  readonly parts: ReadonlyMap<Key, readonly SummaryCount[]>;
}

export interface CreatedCounts extends PeriodCounts<string> {
  readonly totals: SubscriptionSummary;
}

/** The subscriptions created per month, by the statuses that most of them have. */
export async function readCreated(
  reader: SummaryReader,
  totals: SubscriptionSummary,
  now: Date,
): Promise<CreatedCounts> {
  const periods = lastMonths(now, monthsShown);
  const bounds = createdBounds(periods);
  const counted = await Promise.all(
    largestStatuses(totals).map(async (status) => {
      const { by } = await reader.summary({ ...bounds, status: statusFilterOf(status), by: 'month' });
      return [status, by.month ?? []] as const;
    }),
  );
  return { totals, periods, all: totals.by.month ?? [], parts: new Map(counted) };
}

const largestStatuses = ({ by }: SubscriptionSummary): string[] =>
  (by.status ?? [])
    .toSorted((a, b) => b.count - a.count)
    .flatMap(({ value }) => (value === null ? [] : [value]))
    .slice(0, statusSeriesMax);

export interface EndingCounts extends PeriodCounts<'renews'> {
  readonly now: Date;
  /** The filters that select all of them. */
  readonly filters: EndFilters;
}

/** The subscriptions that end per day from now on: all of them, and those that renew. */
export async function readEnding(reader: SummaryReader, now: Date, isPast: boolean): Promise<EndingCounts> {
  const filters = endsWithin(now, daysShown, isPast);
  const query: SummaryQuery = { ...filters, 'date-field': 'expiration', by: 'day' };
  const [all, renewing] = await Promise.all([reader.summary(query), reader.summary({ ...query, 'auto-renew': true })]);
  const parts = new Map([['renews', renewing.by.day ?? []]] as const);
  return { now, filters, periods: nextDays(now, daysShown), all: all.by.day ?? [], parts };
}
