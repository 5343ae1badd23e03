import type { SummaryGroup } from '../contract/summary.ts';
import type { SummaryBucket, SummaryPlan } from '../storage/read/summary.ts';
import { bucketUnit, nextBucket, startOfBucket } from './bucket.ts';
import { dateColumns, planFilter } from './plan.ts';
import type { SummaryQuery } from './summary-query.ts';

/** The column of each group that has one. */
export const groupColumns = {
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

function planBucket({ by, dateField }: SummaryQuery): SummaryBucket | undefined {
  const unit = bucketUnit(by);
  if (unit === undefined) return undefined;
  return { dateColumn: dateColumns[dateField], startOf: startOfBucket(unit), next: nextBucket(unit) };
}
