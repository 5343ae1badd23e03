import { parseInstant } from '../../../contract/instant.ts';

const dayMs = 86_400_000;

/** A half-open interval of whole days in UTC: `from` is included, `to` is not. */
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

/** The interval of a preset at an instant. Days and months are those of UTC; today counts. */
export function presetRange(preset: CreatedPreset, now: Date): DayRange {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const range = (starts: number, ends: number) => ({ from: instantOf(starts), to: instantOf(ends) });
  const tomorrow = Date.UTC(year, month, day + 1);
  const quarter = month - (month % 3);
  switch (preset) {
    case 'today':
      return range(Date.UTC(year, month, day), tomorrow);
    case 'yesterday':
      return range(Date.UTC(year, month, day - 1), Date.UTC(year, month, day));
    case 'last7':
      return range(Date.UTC(year, month, day - 6), tomorrow);
    case 'last30':
      return range(Date.UTC(year, month, day - 29), tomorrow);
    case 'thisMonth':
      return range(Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1));
    case 'lastMonth':
      return range(Date.UTC(year, month - 1, 1), Date.UTC(year, month, 1));
    case 'thisQuarter':
      return range(Date.UTC(year, quarter, 1), Date.UTC(year, quarter + 3, 1));
    case 'lastQuarter':
      return range(Date.UTC(year, quarter - 3, 1), Date.UTC(year, quarter, 1));
    case 'last12Months':
      return range(Date.UTC(year - 1, month, day + 1), tomorrow);
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

/** `2026-03-01` as the instant at which the day begins in UTC. */
export const startOfDay = (day: string): string => `${day}T00:00:00Z`;

/** The instant at which the following day begins in UTC. */
export const endOfDay = (day: string): string => instantOf(Date.parse(day) + dayMs);

/** The last second before a day: `after` excludes its own instant. */
export const beforeDay = (day: string): string => instantOf(Date.parse(day) - 1000);

/** Milliseconds since 1970 of an instant of the API, in any form: `Date` does not read all. */
export function millisecondsOf(instant: string): number {
  const { seconds, nanos } = parseInstant(instant) ?? { seconds: Number.NaN, nanos: 0 };
  return seconds * 1000 + Math.floor(nanos / 1_000_000);
}

/** The day that begins at an instant, `2026-03-01`, or `undefined` if none does. */
export function dayFrom(instant: string): string | undefined {
  const time = millisecondsOf(instant);
  return time % dayMs === 0 ? instantOf(time).slice(0, 10) : undefined;
}

/** The last day before an instant at which a day begins, or `undefined`. */
export function dayUntil(instant: string): string | undefined {
  const time = millisecondsOf(instant);
  return time % dayMs === 0 ? instantOf(time - dayMs).slice(0, 10) : undefined;
}

/** The day that begins one second after an instant, or `undefined`: the reverse of `beforeDay`. */
export function dayAfter(instant: string): string | undefined {
  return dayFrom(instantOf(millisecondsOf(instant) + 1000));
}

const instantOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Calendar days (UTC) from now until an instant: 0 is today, negative is in the past. */
export const daysUntil = (instant: string, now: number): number =>
  Math.floor(Date.parse(instant) / dayMs) - Math.floor(now / dayMs);
