import { reportFormats } from '../contract/report-format.ts';
import type { SubscriptionSummary, SummaryGroup } from '../contract/summary.ts';
import type { DimensionCounts, SummaryCounts } from '../storage/read/summary.ts';
import type { SqlValue } from '../storage/store.ts';
import { describeFilters } from './applied-filters.ts';
import { formatBucket } from './bucket.ts';
import type { FormattedReport } from './format.ts';
import { groupColumns } from './plan-summary.ts';
import type { SummaryQuery } from './summary-query.ts';

/** Formats a summary. */
export function formatSummary(query: SummaryQuery, counts: SummaryCounts): FormattedReport {
  const { total } = counts;
  const by = Object.fromEntries(query.by.map((group) => [group, writeGroup(group, counts)]));
  return {
    body: JSON.stringify({ total, by } satisfies Record<keyof SubscriptionSummary, unknown>),
    headers: {
      'content-type': reportFormats.json.contentType,
      'x-total-count': String(total),
      'x-applied-filters': `${describeFilters(query)}&by=${encodeURIComponent(query.by.join(','))}`,
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
