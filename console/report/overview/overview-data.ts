import type { SubscriptionSummary, SummaryCount, SummaryQuery } from '../../../src/client/index.ts';
import { createdBounds, endBounds, lastMonths, nextDays, type Period } from './periods.ts';

/** Reads counts, as the client library does. */
export interface SummaryReader {
  summary(query: SummaryQuery): Promise<SubscriptionSummary>;
}

/** The number of months and of days that the charts show. */
export const monthsShown = 24;
export const daysShown = 60;

/** Number of statuses with a series of their own; the fifth series is the rest. */
const statusSeriesMax = 4;

/** Counts of everything, from one snapshot. */
export const readTotals = (reader: SummaryReader): Promise<SubscriptionSummary> =>
  reader.summary({ by: ['status', 'product-id', 'month'] });

/** What ends soon, in total and by whether it renews. */
export const readEndingSoon = (reader: SummaryReader): Promise<SubscriptionSummary> =>
  reader.summary({ 'expires-within': '7d', by: 'auto-renew' });

/** Counts by period: of all subscriptions, and of those that each filter selects. */
export interface PeriodCounts<Key> {
  readonly periods: readonly Period[];
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
      const { by } = await reader.summary({ ...bounds, status, by: 'month' });
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

/** The subscriptions that end per day from now on: all of them, and those that renew. */
export async function readEnding(reader: SummaryReader, now: Date): Promise<PeriodCounts<'renews'>> {
  const periods = nextDays(now, daysShown);
  const query: SummaryQuery = { by: 'day', ...endBounds(periods) };
  const [all, renewing] = await Promise.all([reader.summary(query), reader.summary({ ...query, 'auto-renew': true })]);
  return { periods, all: all.by.day ?? [], parts: new Map([['renews', renewing.by.day ?? []]]) };
}
