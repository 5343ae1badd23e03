import type { SubscriptionSummary, SummaryQuery } from '../../../../client/index.ts';
import { statusFilterOf } from '../../../../contract/subscription.ts';
import { useLoad } from '../../../ui/use-load.ts';
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
type ValueCounts =
  | { readonly kind: 'counting' }
  | { readonly kind: 'counted'; readonly values: readonly ValueCount[] }
  | { readonly kind: 'unknown'; readonly error?: unknown };

type Dimension = 'status' | 'product-id';

/**
 * Counts the records by the values of a filter, under all other filters. There are no counts beside
 * an address or a list, because the query of a summary is part of a URL.
 */
export function useValueCounts(dimension: Dimension, { filters, listed, asOf }: ReportState): ValueCounts {
  const { [dimension]: _own, email, ...others } = filters;
  const isCountable = email === undefined && listed === undefined;
  const query = { ...(others as SummaryQuery), by: dimension, 'as-of': instantOf(asOf) };
  const load = useLoad(isCountable ? (signal) => reports.summary(query, { signal }) : undefined);
  if (!isCountable) return { kind: 'unknown' };
  if (load.kind === 'failed') return { kind: 'unknown', error: load.error };
  return load.kind === 'loading' ? { kind: 'counting' } : { kind: 'counted', values: valuesOf(load.value, dimension) };
}

/** The values that a filter can have. */
const valuesOf = ({ by }: SubscriptionSummary, dimension: Dimension): readonly ValueCount[] =>
  dimension === 'status'
    ? (by.status ?? []).map(({ value, count }) => ({ count, value: statusFilterOf(value) }))
    : (by['product-id'] ?? []);
