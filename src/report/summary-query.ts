import type { SummaryGroup } from '../contract/summary.ts';
import type { AskedFilters } from './report-query.ts';

/** A validated summary query. */
export interface SummaryQuery extends AskedFilters {
  /** The dimensions to count by, in the contract's order, without duplicates. */
  readonly by: readonly SummaryGroup[];
}
