import type { ReportState } from '../link/report-state.ts';
import { describeTime } from '../past/describe-time.ts';
import { pastStrings } from '../past/past-strings.ts';
import { readAsOf } from '../past/read-as-of.ts';
import { filterStrings as text } from './filter-strings.ts';
import { type FilterKind, filterKinds, filters, type WordContext } from './filters.ts';

/** A filter in words. */
export interface FilterText {
  readonly kind: FilterKind;
  /** `Status` */
  readonly label: string;
  /** `Active, Depleted` */
  readonly value: string;
  /** `status Active or Depleted`, within a sentence. */
  readonly phrase: string;
}

/** The filters that apply, in words. */
export const describeFilters = (state: ReportState, context: WordContext): readonly FilterText[] =>
  filterKinds.flatMap((kind) => {
    const shown = filters[kind].show(state, context);
    return shown === undefined ? [] : [{ kind, label: filters[kind].label, ...shown }];
  });

/** The past time, within a sentence. */
export function describeAsOf({ asOf }: ReportState): readonly string[] {
  const time = asOf === undefined ? undefined : readAsOf(asOf, new Date());
  return time === undefined ? [] : [pastStrings.shown(describeTime(time))];
}

/**
 * What the table shows, in a sentence: the number if it is known, the order, and every filter that
 * applies.
 *
 * @example '1,284 subscriptions, newest first, status Active, created in the last 12 months'
 */
export function describeReport(state: ReportState, totalCount: number | undefined, context: WordContext): string {
  const phrases = describeFilters(state, context).map(({ phrase }) => phrase);
  const count = totalCount === undefined ? [] : [text.count(totalCount)];
  return [...count, text.order[state.sort], ...phrases, ...describeAsOf(state)].join(', ');
}
