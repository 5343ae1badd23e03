import type { SubscriptionSummary } from '../../../client/index.ts';
import { guardText, writeCsvLine } from '../../../contract/csv.ts';
import type { SummaryGroup } from '../../../contract/summary.ts';
import { dateFormatter, formatDay } from '../../ui/format-date.ts';
import { statusTone, statusWord } from '../../ui/status-label.tsx';
import { countStrings } from './count-strings.ts';

const text = countStrings;

/** A value of a dimension with its count. */
export interface CountRow {
  readonly value: string | null;
  readonly label: string;
  /** The colour of its bar. */
  readonly tone: string;
  readonly count: number;
  /** The part of all, from 0 to 1. */
  readonly share: number;
}

const month = dateFormatter({ month: 'long', year: 'numeric', timeZone: 'UTC' });

/** The counts of a dimension: days and months by time, others the largest first. */
export function countRows(by: SummaryGroup, summary: SubscriptionSummary): CountRow[] {
  const counts: readonly { value: string | null; name?: string; count: number }[] = summary.by[by] ?? [];
  const sorted = by === 'day' || by === 'month' ? counts : counts.toSorted((a, b) => b.count - a.count);
  return sorted.map(({ value, name, count }) => ({
    value,
    label: name || labelOf(by, value),
    tone: by === 'status' ? statusTone(value) : 'accent',
    count,
    share: count / Math.max(1, summary.total),
  }));
}

function labelOf(by: SummaryGroup, value: string | null): string {
  if (by === 'status') return statusWord(value);
  if (by === 'auto-renew') return text.renewal[value === 'true' ? 'true' : 'false'];
  if (by === 'day') return formatDay(new Date(value ?? ''));
  return by === 'month' ? month(new Date(value ?? '')) : (value ?? 'No plan');
}

/** The counts as CSV, with the columns of `subreport summary -o csv`; no cell is a formula. */
export function countsCsv(by: SummaryGroup, { total, by: counts }: SubscriptionSummary): string {
  const entries: readonly { value: string | null; name?: string; count: number }[] = counts[by] ?? [];
  const rows = [
    ['dimension', 'value', 'count', 'name'],
    ['total', '', String(total), ''],
    ...entries.map(({ value, count, name }) => [by, value ?? '', String(count), name ?? '']),
  ];
  return rows.map((cells) => writeCsvLine(cells.map(guardText))).join('');
}
