import { parseInstant } from '../../../contract/instant.ts';
import { dayAfterDays, daysBetween, firstOfMonth, localDay, startMsOf } from '../zone/local-days.ts';

/** A half-open interval of whole days: `from` is included, `to` is not. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

export const createdPresets = [
  'today',
  'yesterday',
  'last7',
  'last30',
  'thisMonth',
  'lastMonth',
  'thisQuarter',
  'lastQuarter',
  'last12Months',
] as const;
export type CreatedPreset = (typeof createdPresets)[number];

/** Days of the presets of the end date. */
export const endsWithinDays = [7, 30, 60] as const;

/** The interval of a preset at an instant, in days and months of the pages; today counts. */
export function presetRange(preset: CreatedPreset, now: Date): DayRange {
  const today = localDay(now.getTime());
  const range = (from: string, to: string) => ({ from: startOfDay(from), to: startOfDay(to) });
  const tomorrow = dayAfterDays(today, 1);
  const inQuarter = (Number(today.slice(5, 7)) - 1) % 3;
  const month = (months: number) => firstOfMonth(today, months);
  switch (preset) {
    case 'today':
      return range(today, tomorrow);
    case 'yesterday':
      return range(dayAfterDays(today, -1), today);
    case 'last7':
      return range(dayAfterDays(today, -6), tomorrow);
    case 'last30':
      return range(dayAfterDays(today, -29), tomorrow);
    case 'thisMonth':
      return range(month(0), month(1));
    case 'lastMonth':
      return range(month(-1), month(0));
    case 'thisQuarter':
      return range(month(-inQuarter), month(3 - inQuarter));
    case 'lastQuarter':
      return range(month(-inQuarter - 3), month(-inQuarter));
    case 'last12Months':
      return range(dayAfterDays(today, 1, -12), tomorrow);
  }
}

/** The presets whose bounds a link can name, so that it means the same period next month. */
const presetWords: { readonly [Preset in CreatedPreset]?: DayRange } = {
  today: { from: 'today', to: 'tomorrow' },
  yesterday: { from: 'yesterday', to: 'today' },
  thisMonth: { from: 'this-month', to: 'next-month' },
  lastMonth: { from: 'last-month', to: 'this-month' },
  thisQuarter: { from: 'this-quarter', to: 'next-quarter' },
  lastQuarter: { from: 'last-quarter', to: 'this-quarter' },
};

/** The interval of a preset as a link has it. */
export const presetInLink = (preset: CreatedPreset, now: Date): DayRange =>
  presetWords[preset] ?? presetRange(preset, now);

/** The preset whose interval this is at an instant, or `undefined`. */
export function presetOf(from: string | undefined, to: string | undefined, now: Date): CreatedPreset | undefined {
  return createdPresets.find((preset) => {
    const range = presetRange(preset, now);
    return range.from === from && range.to === to;
  });
}

/** `2026-03-01` as the instant at which the day begins. */
export const startOfDay = (day: string): string => instantOf(startMsOf(day));

/** The instant at which the following day begins. */
export const endOfDay = (day: string): string => startOfDay(dayAfterDays(day, 1));

/** The last second before a day: `after` excludes its own instant. */
export const beforeDay = (day: string): string => instantOf(startMsOf(day) - 1000);

/** Milliseconds since 1970 of an instant of the API, in any form: `Date` does not read all. */
export function millisecondsOf(instant: string): number {
  const { seconds, nanos } = parseInstant(instant) ?? { seconds: Number.NaN, nanos: 0 };
  return seconds * 1000 + Math.floor(nanos / 1_000_000);
}

/** The day that begins at an instant, `2026-03-01`, or `undefined` if none does. */
export function dayFrom(instant: string): string | undefined {
  const time = millisecondsOf(instant);
  if (Number.isNaN(time)) return undefined;
  const day = localDay(time);
  return startMsOf(day) === time ? day : undefined;
}

/** The last day before an instant at which a day begins, or `undefined`. */
export function dayUntil(instant: string): string | undefined {
  const day = dayFrom(instant);
  return day === undefined ? undefined : dayAfterDays(day, -1);
}

/** The day that begins one second after an instant, or `undefined`: the reverse of `beforeDay`. */
export function dayAfter(instant: string): string | undefined {
  return dayFrom(instantOf(millisecondsOf(instant) + 1000));
}

const instantOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Calendar days from now until an instant: 0 is today, negative is in the past. */
export const daysUntil = (instant: string, now: number): number => daysBetween(now, Date.parse(instant));
