import type { SummaryGroup } from '../contract/summary.ts';
import type { AskedFilters } from './report-query.ts';

/** A summary that can be given: every value read and checked. */
export interface SummaryQuery extends AskedFilters {
  /** What to count by, in the order of the contract, each once. */
  readonly by: readonly SummaryGroup[];
}
