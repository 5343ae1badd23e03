import type { ReportState } from '../link/report-state.ts';
import { instantOfDay } from '../past/read-as-of.ts';
import { startOfDay } from '../zone/day-bounds.ts';
import { dayAfterDays, localDay } from '../zone/local-days.ts';

/** A half-open interval of whole days: `from` is included, `to` is not. */
interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** Days of the presets of the end date. */
export const endsWithinDays = [7, 30, 60] as const;

/** The last days until today, which counts. */
const lastDays =
  (days: number, months = 0) =>
  (today: string): DayRange => ({ from: dayAfterDays(today, 1 - days, -months), to: dayAfterDays(today, 1) });

/** A period whose bounds a link can name, so that it means the same period next month. */
const named = (from: string, to: string) => (): DayRange => ({ from, to });

/** The periods that are offered, as days or the words for days. */
const presets = {
  today: named('today', 'tomorrow'),
  yesterday: named('yesterday', 'today'),
  last7: lastDays(7),
  last30: lastDays(30),
  thisMonth: named('this-month', 'next-month'),
  lastMonth: named('last-month', 'this-month'),
  thisQuarter: named('this-quarter', 'next-quarter'),
  lastQuarter: named('last-quarter', 'this-quarter'),
  last12Months: lastDays(0, 12),
} as const;

export type CreatedPreset = keyof typeof presets;
export const createdPresets = Object.keys(presets) as readonly CreatedPreset[];

const rangeOf = (preset: CreatedPreset, now: Date, write: (day: string) => string): DayRange => {
  const { from, to } = presets[preset](localDay(now.getTime()));
  return { from: write(from), to: write(to) };
};

/** The interval of a preset at an instant, in days and months of the pages. */
export const presetRange = (preset: CreatedPreset, now: Date): DayRange =>
  rangeOf(preset, now, (day) => instantOfDay(day, now) ?? day);

/** The same as a link has it. */
export const presetInLink = (preset: CreatedPreset, now: Date): DayRange =>
  rangeOf(preset, now, (day) => (/^\d/.test(day) ? startOfDay(day) : day));

/**
 * The preset of a link at an instant, or `undefined`. Where the link has words, they decide: on the
 * last day of November, the last 30 days are also this month.
 */
export const presetOf = (
  { filters, days }: Pick<ReportState, 'filters' | 'days'>,
  now: Date,
): CreatedPreset | undefined =>
  createdPresets.find((preset) => {
    const [linked, range] = [presetInLink(preset, now), presetRange(preset, now)];
    const isBound = (name: 'created-from' | 'created-to', end: keyof DayRange): boolean =>
      /^[a-z]/.test(days[name] ?? '') ? days[name] === linked[end] : filters[name] === range[end];
    return isBound('created-from', 'from') && isBound('created-to', 'to');
  });
