import type { SummaryGroup } from '../contract/summary.ts';
import type { ReportFilters, ReportQuery } from './report-query.ts';

/** A summary that can be given: every value read and checked. */
export interface SummaryQuery extends Omit<ReportFilters, 'sort'>, Pick<ReportQuery, 'nowSeconds'> {
  /** What to count by, in the order of the contract, each once. */
  readonly by: readonly SummaryGroup[];
}
