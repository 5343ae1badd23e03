import { reportFormats } from '../../contract/report.ts';
import type { SubscriptionSummary, SummaryGroup } from '../../contract/summary.ts';
import { countErased, type Moment, summarisePast } from '../storage/read/past.ts';
import type { DimensionCounts, SummaryBucket, SummaryCounts, SummaryPlan } from '../storage/read/summary.ts';
import type { SqlValue, Store, TenantId } from '../storage/store.ts';
import { boundsOf, type DateBounds } from '../storage/subscription-filter.ts';
import { type BucketUnit, calendarOf, formatBucket, periodWithin } from './calendar.ts';
import { explainNothing } from './explain-nothing.ts';
import { type AskedFilters, canonicalFilters, dateColumns, describeFilters, planFilter } from './filters.ts';
import type { FormattedReport } from './format.ts';
import type { TimedReport } from './list-subscriptions.ts';
import { describeRevision, readTenant, requireRevision, settle } from './moment.ts';
import { createStages, type StageTimer } from './stages.ts';
import { describeExplanation } from './write-records.ts';

/** What the entity tag of a summary depends on, apart from the tenant and its revision. */
export function summaryKey({ nowSeconds, ...asked }: SummaryQuery): string {
  return JSON.stringify(['summary', asked, asked.expiresWithinSeconds === undefined ? undefined : nowSeconds]);
}

/**
 * Implements `GET /v1/subscription/summary`: counts the tenant's subscriptions, in total and by
 * dimension, all in one snapshot. Throws `StorageError` if the store fails.
 */
export async function getSubscriptionSummary(
  store: Store,
  tenant: TenantId,
  query: SummaryQuery,
  stages: StageTimer = createStages(),
): Promise<TimedReport> {
  const plan = stages.run('plan', () => planSummary(query));
  const { at, counts, erased, explanation } = await stages.run('run', async () => {
    const moment = await settle(store, tenant, query.asOf, query);
    return readTenant(store, tenant, async (reader) => {
      const at = await requireRevision(reader, moment);
      const counts = await summarisePast(reader, plan, at);
      const explanation = counts.total === 0 ? await explainNothing(reader, query, at) : undefined;
      return { at, counts, erased: await countErased(reader, at), explanation };
    });
  });
  const summary = stages.run('format', () => formatSummary(query, counts, explanation));
  const headers = { ...summary.headers, ...describeRevision(at, erased) };
  return { ...summary, headers, revision: at.current, timings: stages.timings };
}

export interface SummaryQuery extends AskedFilters {
  /** The dimensions to count by, in the contract's order, without duplicates. */
  readonly by: readonly SummaryGroup[];
  /** The past moment that it counts at. */
  readonly asOf?: Moment;
}

const groupColumns = {
  status: 'status',
  'product-id': 'product_id',
  'plan-id': 'plan_id',
  'auto-renew': 'auto_renew',
} as const satisfies Partial<Record<SummaryGroup, SummaryPlan['columns'][number]>>;

/** Translates a query for the store. A summary by day and by month counts by day. */
export function planSummary(query: SummaryQuery): SummaryPlan {
  const bucket = planBucket(query);
  return {
    filter: planFilter(query),
    columns: query.by.flatMap((group) => (group === 'day' || group === 'month' ? [] : [groupColumns[group]])),
    ...(bucket !== undefined && { bucket }),
  };
}

function planBucket(query: SummaryQuery): SummaryBucket | undefined {
  const unit = bucketUnit(query.by);
  if (unit === undefined) return undefined;
  const { afterSeconds, beforeSeconds } = dateBoundsOf(query);
  const period = periodWithin(afterSeconds, beforeSeconds, query.nowSeconds);
  return { dateColumn: dateColumns[query.dateField], ...calendarOf(unit, query.zone, period) };
}

/** The bounds of the date that days and months are of. */
export const dateBoundsOf = (query: AskedFilters): Partial<DateBounds> =>
  boundsOf(planFilter(query)).find(({ dateColumn }) => dateColumn === dateColumns[query.dateField]) ?? {};

function formatSummary(query: SummaryQuery, counts: SummaryCounts, explanation: string | undefined): FormattedReport {
  const { total } = counts;
  const by = Object.fromEntries(query.by.map((group) => [group, writeGroup(group, counts)]));
  return {
    body: JSON.stringify({ total, explanation, zone: query.zone, by } satisfies Record<
      keyof SubscriptionSummary,
      unknown
    >),
    headers: {
      'content-type': reportFormats.json.contentType,
      'x-total-count': String(total),
      ...describeExplanation(explanation),
      'x-applied-filters': `${describeFilters(query, canonicalFilters(query))}&by=${encodeURIComponent(query.by.join(','))}`,
    },
  };
}

interface ValueCount {
  readonly value: SqlValue;
  readonly name?: string | undefined;
  readonly count: number;
}

function writeGroup(group: SummaryGroup, { columns, buckets, productNames }: SummaryCounts): ValueCount[] {
  if (group === 'product-id') {
    const counts = inOrder(columns.get('product_id') ?? new Map());
    return counts.map(({ value, count }) => ({ value, name: productNames.get(value), count }));
  }
  if (group !== 'day' && group !== 'month') return inOrder(columns.get(groupColumns[group]) ?? new Map());
  const counts = new Map<string, number>();
  for (const [start, count] of buckets) {
    const name = formatBucket(group, Number(start));
    counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return inOrder(counts);
}

/** Counts sorted by value, `null` last. */
const inOrder = (counts: DimensionCounts): ValueCount[] =>
  [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
      return a.value < b.value ? -1 : 1;
    });

/** Returns the finest unit that `by` names. */
const bucketUnit = (by: readonly SummaryGroup[]): BucketUnit | undefined =>
  (['day', 'month'] as const).find((unit) => by.includes(unit));
