import type { ReportState } from '../link/report-state.ts';
import { strings } from '../strings.ts';
import { describeAsOf, describeFilters, type WordContext } from './describe-filter.ts';

const text = strings.subscriptions;

/**
 * What the table shows, in a sentence: the number if it is known, the order, and every filter that
 * applies.
 *
 * @example '1,284 subscriptions, newest first, status Active, created in the last 12 months'
 */
export function describeReport(state: ReportState, totalCount: number | undefined, context: WordContext): string {
  const filters = describeFilters(state, context).map(({ phrase }) => phrase);
  const count = totalCount === undefined ? [] : [text.count(totalCount)];
  return [...count, text.order[state.sort], ...filters, ...describeAsOf(state)].join(', ');
}
