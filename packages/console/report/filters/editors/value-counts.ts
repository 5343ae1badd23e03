import { useEffect, useState } from 'preact/hooks';
import type { SubscriptionSummary, SummaryQuery } from '../../../../client/index.ts';
import { statusFilterOf } from '../../../../contract/subscription.ts';
import { reports } from '../../api.ts';
import type { ReportState } from '../../link/report-state.ts';
import { instantOf } from '../../past/read-as-of.ts';

/** A value of a filter, and how many records would match with it. */
export interface ValueCount {
  readonly value: string;
  readonly count: number;
  /** The name of a product. */
  readonly name?: string;
}

/** The counts of the values of a filter: not loaded yet, loaded, or failed. */
export type ValueCounts =
  | { readonly kind: 'counting' }
  | { readonly kind: 'counted'; readonly values: readonly ValueCount[] }
  | { readonly kind: 'unknown'; readonly error?: unknown };

/**
 * Counts the records by the values of a filter, under all other filters. There are no counts beside
 * an address or a list, because the query of a summary is part of a URL.
 */
export function useValueCounts(
  dimension: 'status' | 'product-id',
  { filters, listed, asOf }: ReportState,
): ValueCounts {
  const [counts, setCounts] = useState<ValueCounts>({ kind: 'counting' });
  useEffect(() => {
    const { [dimension]: _own, email, ...others } = filters;
    if (email !== undefined || listed !== undefined) return setCounts({ kind: 'unknown' });
    const abort = new AbortController();
    const query = { ...(others as SummaryQuery), by: dimension, 'as-of': instantOf(asOf) };
    reports.summary(query, { signal: abort.signal }).then(
      (summary) => setCounts({ kind: 'counted', values: valuesOf(summary, dimension) }),
      (error: unknown) => {
        if (!abort.signal.aborted) setCounts({ kind: 'unknown', error });
      },
    );
    return () => abort.abort();
  }, [dimension, filters, listed, asOf]);
  return counts;
}

/** The values that a filter can have. */
const valuesOf = ({ by }: SubscriptionSummary, dimension: 'status' | 'product-id'): readonly ValueCount[] =>
  dimension === 'status'
    ? (by.status ?? []).map(({ value, count }) => ({ count, value: statusFilterOf(value) }))
    : (by['product-id'] ?? []);
