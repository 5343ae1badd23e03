import { parseDuration } from '../../../contract/duration.ts';
import { statusFilterOf } from '../../../contract/subscription.ts';
import type { SummaryGroup } from '../../../contract/summary.ts';
import type { FilterChanges, ReportFilters } from '../link/report-state.ts';
import { instantAt, millisecondsOf } from '../zone/day-bounds.ts';
import { dayAfterDays, firstOfMonth, startMsOf } from '../zone/local-days.ts';

/** The date by which days and months are counted, as `date-field` names it. */
export type CountedDate = 'created' | 'activation' | 'expiration';

/** The date that the filters limit; that of the creation if they limit none, or several. */
export function countedDate(filters: ReportFilters): CountedDate {
  if (filters['date-field'] !== undefined) return filters['date-field'] as CountedDate;
  return filters['expires-within'] === undefined ? 'created' : 'expiration';
}

/** The filters that select what a count counts; `undefined` if none do. */
export function filtersOfCount(
  by: SummaryGroup,
  value: string | null,
  filters: ReportFilters,
  now: Date,
): FilterChanges | undefined {
  if (by === 'status') return { status: statusFilterOf(value) };
  if (value === null) return undefined;
  if (by !== 'day' && by !== 'month') return { [by]: value };
  const first = by === 'day' ? value : `${value}-01`;
  const from = startMsOf(first);
  const to = startMsOf(by === 'day' ? dayAfterDays(first, 1) : firstOfMonth(first, 1));
  return countedDate(filters) === 'created' ? createdWithin(from, to, filters) : endsWithin(from, to, filters, now);
}

/** The later or the earlier of a bound of the period and a bound that the filters already have. */
const later = (ms: number, bound: string | undefined): string =>
  bound !== undefined && millisecondsOf(bound) > ms ? bound : instantAt(ms);
const earlier = (ms: number, bound: string | undefined): string =>
  bound !== undefined && millisecondsOf(bound) < ms ? bound : instantAt(ms);

const createdWithin = (from: number, to: number, filters: ReportFilters): FilterChanges => ({
  'created-from': later(from, filters['created-from']),
  'created-to': earlier(to, filters['created-to']),
});

/** Replaces a duration, which includes its last second, by bounds, which exclude theirs. */
function endsWithin(from: number, to: number, filters: ReportFilters, now: Date): FilterChanges {
  const { 'expires-within': duration, after, before } = filters;
  const seconds = duration === undefined ? undefined : parseDuration(duration);
  const least = seconds === undefined ? after : instantAt(now.getTime());
  const most = seconds === undefined ? before : instantAt(now.getTime() + (seconds + 1) * 1000);
  return {
    'expires-within': undefined,
    'date-field': countedDate(filters),
    after: later(from - 1000, least),
    before: earlier(to, most),
  };
}
